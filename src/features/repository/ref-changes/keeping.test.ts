import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { whilePruning } from '../../../git/refs/undo-refs.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { pruneRepository } from '../../projects/housekeeping/jobs.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

const dirOf = async ({ app }: TestForge, id: number) => repositoryDir(app, (await findProjectById(app.db, id))!)

/** As if all objects were a month old. */
async function age(dir: string): Promise<void> {
  const then = new Date(Date.now() - 30 * DAY)
  const objects = join(dir, 'objects')
  for (const name of await readdir(objects, { recursive: true })) await utimes(join(objects, name), then, then)
}

/** Deletes every object that nothing keeps. */
async function prune(forge: TestForge, id: number): Promise<void> {
  await forge.settle()
  const dir = await dirOf(forge, id)
  for (let times = 0; times < 2; times++) {
    await age(dir)
    await enqueue(forge.app, pruneRepository, { id })
    await forge.settle()
  }
}

async function stage(forge: TestForge) {
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, jane)
  const { id: root } = await forge.seed(project, { a: 'a\n' }, { as: jane })
  const dir = await dirOf(forge, project.id)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  return { jane, project, root, dir, git, ...apiOf(jane, project.id) }
}

function apiOf(who: Person, id: number) {
  const url = `/projects/${id}`
  const changes = `${url}/repository/ref_changes`
  const latest = async (ref: string) => (await who.get(changes, { ref })).body[0]
  return {
    url,
    changes,
    latest,
    undo: async (ref: string) => who.post(`${changes}/${(await latest(ref)).id}/undo`),
    drop: (branch: string) => who.delete(`${url}/repository/branches/${branch}`),
    tip: async (branch: string): Promise<string | null> =>
      (await who.get(`${url}/repository/branches/${branch}`)).body.commit?.id ?? null,
    reads: async (sha: string) => (await who.get(`${url}/repository/commits/${sha}`)).status,
  }
}

const TOPIC = 'refs/heads/topic'

test('deleted and replaced commits and tags outlive housekeeping and pruning, in refs that no client sees', async () => {
  await using forge = await startForge()
  const { jane, project, root, url, git, dir, undo, drop, tip } = await stage(forge)
  const { id: deleted } = await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  const { id: replaced } = await forge.seed(project, { c: 'c\n' }, { branch: 'forced', as: jane })
  await jane.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'topic', message: 'One' })
  const tag = await git('rev-parse', 'refs/tags/v1')
  await using work = await workspace()
  const web = addressFor(forge, 'jane/engine', jane)
  await work.git('clone', '-q', web, 'src')
  await work.git('-C', 'src', 'push', '-qf', 'origin', `${root}:refs/heads/forced`)
  await drop('topic')
  await jane.delete(`${url}/repository/tags/v1`)

  await age(dir)
  expect((await jane.post(`${url}/housekeeping`)).status).toBe(201)
  await prune(forge, project.id)
  const refs = ['refs/undo', `refs/undo/${tag}`, `refs/undo/${replaced}`]
  const kept = await git('for-each-ref', '--format=%(refname)', 'refs/undo')
  for (const ref of refs) expect(kept).toContain(ref)
  expect((await work.git('ls-remote', web)).stdout).not.toContain('undo')
  expect((await work.git('-C', 'src', 'push', 'origin', `${root}:refs/undo/${root}`)).code).not.toBe(0)

  expect((await undo(TOPIC)).status).toBe(201)
  expect((await undo('refs/heads/forced')).status).toBe(201)
  expect((await undo('refs/tags/v1')).status).toBe(201)
  expect([await tip('topic'), await tip('forced')]).toEqual([deleted, replaced])
  expect(await git('rev-parse', 'refs/tags/v1')).toBe(tag)
  await git('fsck', '--connectivity-only')
})

test('a branch that is deleted while housekeeping runs comes back', async () => {
  await using forge = await startForge()
  const { jane, project, git, dir, undo, drop, tip } = await stage(forge)
  const { id: sha } = await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  await forge.settle()
  await whilePruning(dir, async () => {
    expect((await drop('topic')).status).toBe(204)
    await git('gc', '-q', '--prune=now')
  })
  expect((await undo(TOPIC)).status).toBe(201)
  expect(await tip('topic')).toBe(sha)
})

test('after the retention the change and its commits are gone', async () => {
  await using forge = await startForge()
  const { jane, project, changes, git, latest, undo, drop, reads } = await stage(forge)
  const { id: sha } = await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  await drop('topic')
  await prune(forge, project.id)
  forge.clock.advance(89 * DAY)
  await forge.settle()
  await prune(forge, project.id)
  expect(await latest(TOPIC)).toMatchObject({ before: sha, after: null })
  expect(await git('for-each-ref', 'refs/undo')).toContain(sha)

  forge.clock.advance(2 * DAY)
  await forge.settle()
  expect((await jane.get(changes)).body).toEqual([])
  expect(await git('for-each-ref', 'refs/undo')).toBe('')
  await prune(forge, project.id)
  expect(await reads(sha)).toBe(404)
  expect(await latest(TOPIC)).toBeUndefined()
  expect((await undo('refs/heads/master').catch(() => null))?.status).not.toBe(201)
})

test('an owner erases a secret: nobody reads the commits from then on, and pruning deletes them', async () => {
  await using forge = await startForge()
  const { jane, project, root, changes, git, latest, undo, drop, reads } = await stage(forge)
  const { id: first } = await forge.seed(project, { key: 'secret\n' }, { branch: 'topic', as: jane })
  const { id: second } = await forge.seed(project, { more: 'x\n' }, { branch: 'topic', as: jane })
  const { id: other } = await forge.seed(project, { c: 'c\n' }, { branch: 'other', as: jane })
  await drop('topic')
  await drop('other')
  await prune(forge, project.id)
  expect([await reads(first), await reads(second)]).toEqual([200, 200])

  expect((await jane.delete(`${changes}/${(await latest(TOPIC)).id}`)).status).toBe(204)
  expect((await jane.get(changes, { ref: TOPIC })).body).toEqual([])
  expect([await reads(first), await reads(second), await reads(root)]).toEqual([404, 404, 200])
  await forge.settle()
  await age(await dirOf(forge, project.id))
  forge.clock.advance(2 * HOUR)
  await forge.settle()
  for (const sha of [first, second]) await expect(git('cat-file', '-e', sha)).rejects.toThrow('cat-file -e')
  expect((await undo('refs/heads/other')).body).toMatchObject({ after: other })
})

test('commits of a deleted merge request from a private fork stay hidden, although undo keeps them', async () => {
  await using forge = await startForge()
  const { jane, project, url, git, undo, drop, reads } = await stage(forge)
  const joe = await forge.user()
  const fork = (await joe.post(`${url}/fork`)).body
  await forge.settle()
  await joe.put(`/projects/${fork.id}`, { visibility: 'private' })
  const { id: sha } = await forge.seed(fork, { c: 'secret\n' }, { branch: 'theirs', as: joe })
  const request = { source_branch: 'theirs', target_branch: 'master', title: 'T', target_project_id: project.id }
  const { iid } = (await joe.post(`/projects/${fork.id}/merge_requests`, request)).body
  await forge.settle()
  await jane.post(`${url}/repository/branches`, { branch: 'topic', ref: sha })
  await drop('topic')
  await prune(forge, project.id)
  expect(await reads(sha)).toBe(200)
  expect((await jane.delete(`${url}/merge_requests/${iid}`)).status).toBe(204)
  expect(await reads(sha)).toBe(404)
  await prune(forge, project.id)
  expect(await git('for-each-ref', 'refs/undo')).toContain(sha)
  expect(await reads(sha)).toBe(404)
  // After each push, what refs reach is readable again.
  await forge.seed(project, { d: 'd\n' }, { as: jane })
  expect(await reads(sha)).toBe(404)
  expect((await jane.post(`${url}/repository/branches`, { branch: 'taken', ref: sha })).status).toBe(400)
  expect((await undo(TOPIC)).status).toBe(201)
  expect(await reads(sha)).toBe(200)
})

test('a fork and its source each bring back what only the pool has', async () => {
  await using forge = await startForge()
  const { jane, project, url, undo, drop, tip } = await stage(forge)
  const { id: sha } = await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  const joe = await forge.user()
  const fork = (await joe.post(`${url}/fork`)).body
  await forge.settle()
  const forked = apiOf(joe, fork.id)
  expect([await forked.tip('topic'), (await forked.drop('topic')).status]).toEqual([sha, 204])
  await drop('topic')
  for (const id of [project.id, fork.id]) {
    await forge.administrator.post(`/projects/${id}/housekeeping`)
    await prune(forge, id)
  }
  expect((await forked.undo(TOPIC)).status).toBe(201)
  expect(await forked.tip('topic')).toBe(sha)

  // The last member takes all it needs out of the pool.
  await joe.delete(`/projects/${fork.id}`)
  await forge.settle()
  forge.clock.advance(2 * DAY)
  await forge.administrator.post(`/projects/${project.id}/housekeeping`)
  await prune(forge, project.id)
  expect((await undo(TOPIC)).status).toBe(201)
  expect(await tip('topic')).toBe(sha)
})

test(
  'a thousand refs in one push cost few queries, and few refs when they are deleted',
  { timeout: 180_000 },
  async () => {
    await using forge = await startForge()
    const { jane, project, changes, git } = await stage(forge)
    await using work = await workspace()
    const web = addressFor(forge, 'jane/engine', jane)
    await work.git('clone', '-q', '--bare', web, 'src')
    // Other refs than branches, which also start pipelines.
    const count = 1_000
    const stream = Array.from({ length: count }, (_, n) => {
      const from = n === 0 ? 'from refs/heads/master^0\n' : `from :${n}\n`
      return `commit refs/heads/b${n}\nmark :${n + 1}\ncommitter A <a@example.com> ${n} +0000\ndata 1\nx\n${from}\n`
    })
    await writeFile(join(work.folder, 'stream'), stream.join(''))
    await work.git('-C', 'src', 'config', 'alias.take', '!git fast-import --quiet < ../stream')
    expect((await work.git('-C', 'src', 'take')).code).toBe(0)
    const push = (...refs: string[]) => work.git('-C', 'src', 'push', '-q', web, ...refs)
    const queries = await forge.queries(async () => expect((await push('refs/heads/b*:refs/mirror/b*')).code).toBe(0))
    expect(queries).toBeLessThan(200)
    const page = await jane.get(changes, { per_page: 100, page: 3 })
    expect([page.body.length, page.headers.get('x-next-page')]).toEqual([100, '4'])

    await work.git(
      '-C',
      'src',
      'config',
      'alias.forget',
      `!git for-each-ref --format='delete %(refname)' 'refs/heads/b*' | git update-ref --stdin`,
    )
    await work.git('-C', 'src', 'forget')
    expect((await push('--prune', 'refs/heads/b*:refs/mirror/b*')).code).toBe(0)
    const [deletion] = (await jane.get(changes)).body
    expect(deletion).toMatchObject({ after: null, current: true })
    await prune(forge, project.id)
    expect((await git('for-each-ref', 'refs/undo')).split('\n').length).toBeLessThan(10)
    expect((await jane.post(`${changes}/${deletion.id}/undo`)).status).toBe(201)
  },
)
