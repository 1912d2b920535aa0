import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { Developer, Guest, Reporter } from '../../../lib/levels.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { checkRepositories } from '../checking/service.ts'

const ON_NO_BRANCH = 'You can only create or edit files when you are on a branch'

async function gitIn(forge: TestForge, id: number) {
  const row = await forge.app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return (...args: string[]) => runGit([`--git-dir=${repositoryDir(forge.app, row)}`, ...args])
}

const request = (more: Record<string, unknown> = {}) => ({
  branch: 'new',
  commit_message: 'changes',
  actions: [{ action: 'update', file_path: 'a.txt', content: 'changed\n' }],
  ...more,
})

async function forked(forge: TestForge, by: Person, id: number): Promise<number> {
  const { body } = await by.post(`/projects/${id}/fork`)
  await forge.settle()
  return body.id
}

/** A source, its fork by another user, and later commits in the source. */
async function network(forge: TestForge, visibility: 'private' | 'public') {
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben' })]
  const source = await forge.project({ path: 'tool', visibility }, ann)
  await fillProject(forge, source.id, { files: { 'a.txt': 'a\n' } })
  await addMember(forge, { project_id: source.id }, ben.id, Reporter)
  const fork = await forked(forge, ben, source.id)
  const { body } = await ann.post(`/projects/${source.id}/repository/commits`, {
    branch: 'topic',
    start_branch: 'master',
    commit_message: 'topic',
    actions: [{ action: 'create', file_path: 'b.txt', content: 'b\n' }],
  })
  return { ann, ben, source, fork, topic: body.id as string, url: `/projects/${fork}/repository/commits` }
}

test.each(['public', 'private'] as const)(
  'a branch starts from another project of a %s network',
  async (visibility) => {
    await using forge = await startForge()
    const { ben, source, fork, topic, url } = await network(forge, visibility)
    const git = await gitIn(forge, fork)
    const starts: [Record<string, unknown>, string][] = [
      [{ branch: 'one', start_project: source.id, start_branch: 'topic' }, topic],
      [{ branch: 'two', start_project: 'ANN/tool', start_sha: topic.slice(0, 10) }, topic],
      // Without a start branch, the branch of the same name is used.
      [{ branch: 'topic', start_project: `${source.id}` }, topic],
      [
        { branch: 'one', start_project: source.id, start_branch: 'master', force: true },
        await git('rev-parse', 'master'),
      ],
      [{ branch: 'own', start_project: fork, start_branch: 'master' }, await git('rev-parse', 'master')],
    ]
    for (const [input, parent] of starts) {
      const { status, body } = await ben.post(url, request(input))
      expect([status, body.parent_ids, body.project_id]).toEqual([201, [parent], fork])
      expect(await git('rev-parse', String(input.branch))).toBe(body.id)
    }
    expect(await git('show', 'two:b.txt')).toBe('b')
    await ben.post(`/projects/${fork}/housekeeping`)
    await forge.administrator.delete(`/projects/${source.id}`)
    await forge.settle()
    for await (const { path, faults } of checkRepositories(forge.app)) expect([path, faults]).toEqual([path, []])
  },
)

test('what was brought from another project may be signed, what was made here is not', async () => {
  await using forge = await startForge()
  const { ben, source, url } = await network(forge, 'public')
  const answerTo = async (more: Record<string, unknown>) => {
    expect((await ben.post(url, request(more))).status).toBe(201)
    const [event] = await forge.app.db.selectFrom('events').select('payload').orderBy('id', 'desc').limit(1).execute()
    return JSON.parse(event!.payload).unsigned
  }
  expect(await answerTo({ branch: 'one', start_project: source.id, start_branch: 'topic' })).toBe(undefined)
  expect(await answerTo({ branch: 'two', start_branch: 'one' })).toBe(true)
})

test('a fork of nothing starts from its source, a source from its fork, a sibling from a sibling', async () => {
  await using forge = await startForge()
  const [ann, ben, cat] = [await forge.user(), await forge.user(), await forge.user()]
  const source = await forge.project({ path: 'tool', visibility: 'public' }, ann)
  const [first, second] = [await forked(forge, ben, source.id), await forked(forge, cat, source.id)]
  await fillProject(forge, first, { files: { 'a.txt': 'a\n' } })
  for (const [person, id] of [
    [cat, second],
    [ann, source.id],
  ] as const) {
    const input = request({ branch: 'main', start_project: first, start_branch: 'master' })
    expect(await person.post(`/projects/${id}/repository/commits`, input)).toMatchObject({ status: 201 })
    expect((await person.get(`/projects/${id}`)).body).toMatchObject({ default_branch: 'main', empty_repo: false })
    const git = await gitIn(forge, id)
    expect(await git('log', '--format=%s', 'main')).toContain('changes')
    expect(await git('fsck', '--full', '--strict')).not.toMatch(/missing|broken/)
  }
})

test('what may not be started from is refused in one way, and nothing moves', async () => {
  await using forge = await startForge()
  const { ann, ben, source, fork, url } = await network(forge, 'private')
  const stranger = await forge.project({ path: 'other', visibility: 'public' }, ann)
  await fillProject(forge, stranger.id, { files: { 'a.txt': 'other\n' } })
  const { body: hidden } = await ann.post(`/projects/${source.id}/fork`, { name: 'Hidden', path: 'hidden' })
  await forge.settle()
  const git = await gitIn(forge, fork)
  const before = [await git('for-each-ref'), await git('count-objects', '-v'), await forge.events()]
  const exists = "A branch called 'master' already exists. Switch to that branch in order to make changes"
  for (const [input, message] of [
    [{ start_project: 4_000_000, start_branch: 'master' }, ON_NO_BRANCH],
    [{ start_project: 'no/such', start_branch: 'master' }, ON_NO_BRANCH],
    [{ start_project: stranger.id, start_branch: 'master' }, ON_NO_BRANCH],
    [{ start_project: hidden.id, start_branch: 'master' }, ON_NO_BRANCH],
    [{ start_project: source.id, start_branch: 'nowhere' }, ON_NO_BRANCH],
    [{ start_project: source.id, start_sha: '1'.repeat(40) }, ON_NO_BRANCH],
    [{ start_project: source.id }, ON_NO_BRANCH],
    [{ branch: 'master', start_project: source.id }, exists],
    [
      { start_project: source.id, start_branch: 'topic', actions: [{ action: 'delete', file_path: 'none' }] },
      "A file with this name doesn't exist",
    ],
  ] as const) {
    const { status, body } = await ben.post(url, request(input))
    expect([status, body.message]).toEqual([400, message])
  }
  expect([await git('for-each-ref'), await git('count-objects', '-v'), await forge.events()]).toEqual(before)
})

test('a user who can read the code of both projects can start a branch', async () => {
  await using forge = await startForge()
  const { ann, source, fork, url } = await network(forge, 'private')
  const statuses: number[] = []
  for (const level of [null, Guest, Reporter, Developer]) {
    const person = await forge.user()
    await addMember(forge, { project_id: fork }, person.id, Developer)
    if (level !== null) await addMember(forge, { project_id: source.id }, person.id, level)
    const input = request({ branch: `b${statuses.length}`, start_project: source.id, start_branch: 'topic' })
    statuses.push((await person.post(url, input)).status)
  }
  expect(statuses).toEqual([400, 400, 201, 201])
  // A caller who may not push to the fork gets that error first.
  await addMember(forge, { project_id: fork }, ann.id, Reporter)
  expect((await ann.post(url, request({ start_project: source.id, start_branch: 'topic' }))).status).toBe(403)
})
