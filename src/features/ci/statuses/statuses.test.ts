import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { Developer } from '../../../lib/levels.ts'

async function built(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(forge, project.id, {}, { branch: 'feature', from: 'refs/heads/master' })
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const sha = await git('rev-parse', 'feature')
  const developer = await forge.user({ username: 'robot' })
  await addMember(forge, { project_id: project.id }, developer.id, Developer)
  const commits = `/projects/${project.id}/repository/commits`
  return { project, git, sha, developer, commits, url: `/projects/${project.id}/statuses/${sha}` }
}

test('a status is reported, goes on, ends, and begins anew', async () => {
  await using forge = await startForge()
  const { sha, developer, commits, url } = await built(forge)
  const facts = { target_url: 'https://ci.example/1', description: 'all of it', coverage: 87.5 }
  const pending = await developer.post(url, { state: 'pending', context: 'ci', ...facts })
  expect(pending.status).toBe(201)
  expect(pending.body).toEqual({
    id: expect.any(Number),
    pipeline_id: expect.any(Number),
    sha,
    ref: 'feature',
    status: 'pending',
    name: 'ci',
    ...facts,
    created_at: expect.stringMatching(/Z$/),
    started_at: null,
    finished_at: null,
    allow_failure: false,
    author: expect.objectContaining({ username: 'robot' }),
  })
  const statusOf = async () => (await developer.get(`${commits}/${sha}`)).body.status
  expect(await statusOf()).toBe('pending')

  const running = await developer.post(url, { state: 'running', name: 'ci', coverage: '90' })
  expect(running.body).toEqual({ ...pending.body, status: 'running', coverage: 90, started_at: expect.any(String) })
  const success = await developer.post(url, { state: 'success', name: 'ci' })
  expect(success.body).toEqual({ ...running.body, status: 'success', finished_at: expect.any(String) })
  expect(await statusOf()).toBe('success')

  const again = await developer.post(url, { state: 'pending', name: 'ci' })
  expect(again.body.id).not.toBe(success.body.id)
  const other = await developer.post(url, { state: 'failed' })
  expect(other.body).toMatchObject({ name: 'default', started_at: null, finished_at: expect.any(String) })
  expect(await statusOf()).toBe('running')

  const listed = async (input = {}) => {
    const { body, headers } = await developer.get(`${commits}/${sha}/statuses`, input)
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.map(({ id }: { id: number }) => id)
  }
  expect(await listed()).toEqual([again.body.id, other.body.id])
  expect(await listed({ all: true })).toEqual([success.body.id, again.body.id, other.body.id])
  expect(await listed({ name: 'ci', all: true, sort: 'desc' })).toEqual([again.body.id, success.body.id])
  expect(await listed({ ref: 'master' })).toEqual([])
  expect(await listed({ stage: 'external' })).toHaveLength(2)
  // A branch name does not work as a commit here.
  expect((await developer.get(`${commits}/feature/statuses`)).body).toEqual([])
})

test.each([
  ['pending', 'pending', 'enqueue'],
  ['running', 'pending', 'enqueue'],
  ['running', 'running', 'run'],
] as const)('from %s there is no way to %s', async (from, to, event) => {
  await using forge = await startForge()
  const { developer, commits, sha, url } = await built(forge)
  const first = await developer.post(url, { state: from })
  const before = await forge.events()
  const { status, body } = await developer.post(url, { state: to })
  const message = `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`
  expect([status, body]).toEqual([400, { message }])
  expect((await developer.get(`${commits}/${sha}/statuses`)).body).toEqual([first.body])
  expect(await forge.events()).toEqual(before)
})

test.each([
  [{}, 400, '400 (Bad request) state not given'],
  [{ state: 'done' }, 400, 'state does not have a valid value'],
  [{ state: 'success', target_url: 'javascript:alert(1)' }, 400, { target_url: ['must be a valid URL'] }],
  [
    { state: 'success', target_url: `https://ci.example/${'x'.repeat(255)}` },
    400,
    { target_url: ['is too long (maximum is 255 characters)'] },
  ],
  [{ state: 'success', coverage: 'much' }, 400, 'coverage is invalid'],
] as const)('%j is refused', async (input, status, message) => {
  await using forge = await startForge()
  const { developer, commits, sha, url } = await built(forge)
  const before = await forge.events()
  expect(await developer.post(url, input)).toMatchObject({ status, body: { message } })
  expect((await developer.get(`${commits}/${sha}/statuses`)).body).toEqual([])
  expect(await forge.events()).toEqual(before)
})

test('a commit must be there, and on a branch unless one is named', async () => {
  await using forge = await startForge()
  const { project, git, developer, commits } = await built(forge)
  const report = (sha: string, input = {}) =>
    developer.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success', ...input })
  expect(await report('1'.repeat(40))).toMatchObject({ status: 404, body: { message: '404 Commit Not Found' } })
  expect(await developer.get(`${commits}/nowhere/statuses`)).toMatchObject({ status: 404 })

  const env = ['-c', 'user.name=x', '-c', 'user.email=x@x']
  const lost = await git(...env, 'commit-tree', '-m', 'lost', 'master^{tree}')
  expect(await report(lost)).toMatchObject({ status: 404, body: { message: '404 References for commit Not Found' } })
  expect(await report(lost, { ref: 'gone' })).toMatchObject({ status: 201, body: { ref: 'gone' } })
})

test('a longer list asks the store no more', async () => {
  await using forge = await startForge()
  const { developer, commits, sha, url } = await built(forge)
  const report = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await developer.post(url, { state: 'success', name: `job ${n}` })
  }
  const list = () => developer.get(`${commits}/${sha}/statuses`)
  const count = async () => {
    await list()
    return forge.queries(list)
  }
  await report(0, 2)
  const few = await count()
  await report(2, 12)
  expect(await count()).toBe(few)
})

test('coverage that other tools tell counts, also after the pipeline has ended', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { a: 'a' }, { as: owner })
  const at = `/projects/${project.id}`
  const sha = (await owner.get(`${at}/repository/commits/master`)).body.id
  const covered = async (name: string, coverage: number) => {
    const { body } = await owner.post(`${at}/statuses/${sha}`, { state: 'success', name, coverage })
    return (await owner.get(`${at}/pipelines/${body.pipeline_id}`)).body.coverage
  }
  expect(await covered('a', 80)).toBe('80.00')
  expect(await covered('b', 90)).toBe('85.00')
  expect(await covered('b', 100)).toBe('90.00')
})

test('statuses of a commit are those of one pipeline where it is named', async () => {
  await using forge = await startForge()
  const { sha, git, developer, commits, url } = await built(forge)
  await git('branch', 'other', 'feature')
  const report = async (ref: string, name: string) => (await developer.post(url, { state: 'success', ref, name })).body
  const [one, two] = [await report('feature', 'a'), await report('other', 'b')]
  expect(two.pipeline_id).not.toBe(one.pipeline_id)
  const listed = async (input: object) =>
    (await developer.get(`${commits}/${sha}/statuses`, { ...input })).body.map(({ name }: { name: string }) => name)
  expect(await listed({ pipeline_id: one.pipeline_id })).toEqual(['a'])
  expect(await listed({ pipeline_id: two.pipeline_id })).toEqual(['b'])
  expect(await listed({ pipeline_id: two.pipeline_id + 1 })).toEqual([])
  expect(await listed({ pipeline_id: '' })).toEqual(['a', 'b'])
  expect(await listed({ order_by: 'id', sort: 'desc' })).toEqual(['b', 'a'])
})
