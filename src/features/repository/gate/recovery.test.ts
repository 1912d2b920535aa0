import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { HOUR, MINUTE, timestamp } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { createRepository } from '../../../git/storage/repositories.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/repositories/repository.ts'
import type { Update } from './updates.ts'

const MASTER = 'refs/heads/master'

/** A repository with the commit `a`, and `b` and `c` on top of each other; `master` is at `a`. */
async function stage(forge: TestForge, { wiki = false } = {}) {
  const { id } = await forge.project()
  const project = (await findProjectById(forge.app.db, id))!
  const dir = wiki ? wikiDir(forge.app, project) : await fillProject(forge, id)
  if (wiki) await createRepository(dir, { defaultBranch: 'master' })
  const git = async (...args: string[]) => (await runGit([`--git-dir=${dir}`, ...args])).toString().trim()
  const tree = await git('hash-object', '-w', '-t', 'tree', '/dev/null')
  const commit = (...parents: string[]) =>
    git(
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@y',
      'commit-tree',
      tree,
      '-m',
      'x',
      ...parents.flatMap((p) => ['-p', p]),
    )
  const a = wiki ? await commit() : await git('rev-parse', 'master')
  const b = await commit(a)
  const c = await commit(b)
  if (wiki) await git('update-ref', MASTER, a)
  /** What a process does before it is killed. */
  const expectOnly = (...updates: Update[]) =>
    forge.app.db
      .insertInto('pending_changes')
      .values({
        project_id: id,
        wiki,
        user_id: 1,
        updates: JSON.stringify(updates),
        options: '["ci.skip"]',
        created_at: timestamp(forge.clock),
      })
      .execute()
  const tell = (...updates: Update[]) =>
    forge.app.db
      .insertInto('events')
      .values({
        name: 'repository.changed',
        payload: JSON.stringify({ project_id: id, wiki, by: 1, updates, options: [] }),
        created_at: timestamp(forge.clock),
        dispatched_at: null,
      })
      .execute()
  const pass = async (ms: number) => {
    forge.clock.advance(ms)
    await forge.settle()
  }
  /** The published changes, and the number of pending ones. */
  const state = async () => {
    const events = await forge.app.db
      .selectFrom('events')
      .select('payload')
      .where('name', '=', 'repository.changed')
      .orderBy('id')
      .execute()
    const rows = await forge.app.db.selectFrom('pending_changes').select('id').execute()
    return [events.map(({ payload }) => JSON.parse(payload).updates as Update[]), rows.length]
  }
  return { id, dir, git, a, b, c, expectOnly, tell, pass, state }
}

const move = (before: string | null, after: string | null, ref = MASTER): Update => ({ ref, before, after })

test('a change that moved its refs is told once, as it would have been', async () => {
  await using forge = await startForge()
  const { id, git, a, b, expectOnly, pass, state } = await stage(forge)
  await expectOnly(move(a, b), move(null, b, 'refs/heads/topic'))
  await git('update-ref', MASTER, b)
  await git('update-ref', 'refs/heads/topic', b)
  await pass(10_000)
  expect(await state()).toEqual([[], 1])
  await pass(MINUTE)
  expect(await state()).toEqual([[[move(a, b), move(null, b, 'refs/heads/topic')]], 0])
  const [event] = await forge.app.db
    .selectFrom('events')
    .select('payload')
    .where('name', '=', 'repository.changed')
    .execute()
  expect(JSON.parse(event!.payload)).toMatchObject({ project_id: id, wiki: false, by: 1, options: ['ci.skip'] })
  await pass(2 * HOUR)
  expect((await state())[0]).toHaveLength(1)
})

test('a first branch becomes the default, and is protected', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const other = await stage(forge)
  const project = (await findProjectById(forge.app.db, id))!
  await runGit([`--git-dir=${repositoryDir(forge.app, project)}`, 'fetch', '-q', other.dir, 'master:refs/heads/trunk'])
  const updates = JSON.stringify([move(null, other.a, 'refs/heads/trunk')])
  await forge.app.db
    .insertInto('pending_changes')
    .values({ project_id: id, wiki: false, user_id: null, updates, options: '[]', created_at: timestamp(forge.clock) })
    .execute()
  await other.pass(MINUTE)
  expect((await forge.administrator.get(`/projects/${id}`)).body).toMatchObject({
    default_branch: 'trunk',
    empty_repo: false,
  })
  expect((await forge.administrator.get(`/projects/${id}/protected_branches`)).body).toMatchObject([{ name: 'trunk' }])
})

test('a change of a wiki', async () => {
  await using forge = await startForge()
  const { git, a, b, expectOnly, pass, state } = await stage(forge, { wiki: true })
  await expectOnly(move(a, b))
  await git('update-ref', MASTER, b)
  await pass(MINUTE)
  expect(await state()).toEqual([[[move(a, b)]], 0])
})

test('what did not happen is not told, and given up in the end', async () => {
  await using forge = await startForge()
  const { a, b, expectOnly, pass, state } = await stage(forge)
  await expectOnly(move(a, b))
  await expectOnly(move(null, b, 'refs/heads/new'))
  await expectOnly(move(b, null, 'refs/heads/old'), move(a, b))
  await pass(10 * MINUTE)
  // Moving refs may take that long.
  expect((await state())[1]).toBe(3)
  await pass(HOUR)
  // In the last change, the branch to delete never existed.
  expect(await state()).toEqual([[[move(b, null, 'refs/heads/old')]], 0])
})

test('what another process did and told is not told again', async () => {
  await using forge = await startForge()
  const { git, a, b, c, expectOnly, tell, pass, state } = await stage(forge)
  // Interrupted before anything moved; the retry succeeded.
  await expectOnly(move(a, b))
  await pass(1)
  await git('update-ref', MASTER, b)
  await tell(move(a, b))
  await pass(2 * HOUR)
  expect(await state()).toEqual([[[move(a, b)]], 0])

  // The change came too late and would have failed.
  await tell(move(b, c))
  await git('update-ref', MASTER, c)
  await pass(1000)
  await expectOnly(move(b, c))
  await pass(MINUTE)
  await pass(2 * HOUR)
  expect(await state()).toEqual([[[move(a, b)], [move(b, c)]], 0])
})

test('what was moved on since is told, also by another that was cut short', async () => {
  await using forge = await startForge()
  const { git, a, b, c, expectOnly, tell, pass, state } = await stage(forge)
  await expectOnly(move(a, b))
  await pass(1)
  await tell(move(b, c))
  await git('update-ref', MASTER, c)
  await pass(MINUTE)
  expect(await state()).toEqual([[[move(b, c)], [move(a, b)]], 0])

  await expectOnly(move(c, a))
  await expectOnly(move(a, b))
  await expectOnly(move(b, null))
  await git('update-ref', '-d', MASTER)
  await pass(MINUTE)
  expect(await state()).toEqual([[[move(b, c)], [move(a, b)], [move(c, a)], [move(a, b)], [move(b, null)]], 0])
})

test('where a ref is on the move nothing is said yet', async () => {
  await using forge = await startForge()
  const { git, a, b, c, expectOnly, pass, state } = await stage(forge)
  await expectOnly(move(a, b))
  await pass(MINUTE - 1000)
  await git('update-ref', MASTER, c)
  await expectOnly(move(b, c))
  await pass(1000)
  const [first] = await state()
  await pass(2 * MINUTE)
  expect([first, ...(await state())]).toEqual([[], [[move(a, b)], [move(b, c)]], 0])
})

test('a killed undo of the deletion of a tag brings its release back, too', async () => {
  await using forge = await startForge()
  const { id, git, a, pass } = await stage(forge)
  const { administrator: root } = forge
  const url = `/projects/${id}`
  await root.post(`${url}/releases`, { tag_name: 'v1', ref: 'master', description: 'Runs' })
  const { body: before } = await root.get(`${url}/releases/v1`)
  await root.delete(`${url}/repository/tags/v1`)
  const [deletion] = (await root.get(`${url}/repository/ref_changes`, { ref: 'refs/tags/v1' })).body

  const update: Update = { ref: 'refs/tags/v1', before: null, after: a }
  await forge.app.db
    .insertInto('pending_changes')
    .values({
      project_id: id,
      wiki: false,
      user_id: 1,
      updates: JSON.stringify([update]),
      options: '[]',
      undoes: deletion.id,
      created_at: timestamp(forge.clock),
    })
    .execute()
  await git('update-ref', update.ref, a)
  await pass(HOUR)
  expect((await root.get(`${url}/releases/v1`)).body).toEqual(before)
})
