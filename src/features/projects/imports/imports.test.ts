import { randomBytes } from 'node:crypto'
import dns from 'node:dns/promises'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { expect, test, vi } from 'vitest'
import { runGit, startGitOrigin, type GitOrigin, type OriginCommit } from '../../../../test/git-origin.ts'
import { callersOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../repositories/repository.ts'

const headers: unknown = expect.anything()
const COMMITS: OriginCommit[] = [
  { branch: 'trunk', files: { 'readme.RST': 'hello', README: 'plain', 'a.txt': 'one' }, tag: 'v1' },
  { branch: 'trunk' },
  { branch: 'side' },
]

const allowLocal = (forge: TestForge, on = true) =>
  forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: on })

const rowOf = ({ app }: TestForge, id: number) =>
  app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()

const dirOf = async (forge: TestForge, id: number) => repositoryDir(forge.app, (await rowOf(forge, id))!)

const filesLike = (...bytes: number[]): OriginCommit => ({
  branch: 'trunk',
  files: Object.fromEntries(bytes.map((size, n) => [`${n}.bin`, randomBytes(size)])),
})

/** Imports `x.git` from the origin and waits for the end. */
async function imported(forge: TestForge, person: Person, import_url: string) {
  const { body } = await person.post('/projects', { name: 'Saw', import_url })
  await forge.settle()
  return (await person.get(`/projects/${body.id}`)).body
}

test('a repository is brought in with its branches, tags and HEAD', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin({ credentials: { username: 'jo', password: 'p@ss/w%d' } })
  const { url, dir } = await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  const jane = await forge.user()
  const secret = url.replace('http://', 'http://jo:p%40ss%2Fw%25d@')

  const { status, body } = await jane.post('/projects', { name: 'Saw', import_url: secret })
  expect([status, body.import_status, body.import_url, body.empty_repo]).toEqual([201, 'scheduled', url, true])
  const events = await forge.events()
  await forge.settle()

  const shown = await jane.get(`/projects/${body.id}`, { statistics: true })
  expect(shown.body).toMatchObject({
    import_status: 'finished',
    import_error: null,
    import_url: url,
    empty_repo: false,
    default_branch: 'trunk',
    readme_url: `${forge.url}/${jane.username}/saw/-/blob/trunk/readme.RST`,
    statistics: { commit_count: 2, repository_size: expect.any(Number) },
  })
  expect(shown.body.statistics.repository_size).toBeGreaterThan(500)
  const refs = ['for-each-ref', '--format=%(objectname) %(refname)']
  expect(await runGit([`--git-dir=${await dirOf(forge, body.id)}`, ...refs])).toBe(
    await runGit([`--git-dir=${dir}`, ...refs]),
  )
  expect((await jane.get(`/projects/${body.id}/import`)).body).toEqual({
    id: body.id,
    description: null,
    name: 'Saw',
    name_with_namespace: body.name_with_namespace,
    path: 'saw',
    path_with_namespace: `${jane.username}/saw`,
    created_at: body.created_at,
    import_status: 'finished',
    import_type: 'git',
    import_error: null,
    correlation_id: null,
    failed_relations: [],
    stats: { progress: 100 },
  })
  expect(await forge.events()).toEqual([...events, 'project.filled'])
  const { body: rules } = await jane.get(`/projects/${body.id}/protected_branches`)
  expect(rules).toMatchObject([{ name: 'trunk', push_access_levels: [{ access_level: 40 }] }])
  const stored = JSON.stringify([
    await rowOf(forge, body.id),
    await forge.app.db.selectFrom('jobs').selectAll().execute(),
  ])
  expect(stored).not.toMatch(/p@ss|p%40ss/)
})

test('an empty repository is imported as such', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  const { url } = await origin.addRepository('x.git')
  await allowLocal(forge)
  expect(await imported(forge, await forge.user(), url)).toMatchObject({
    import_status: 'finished',
    empty_repo: true,
    default_branch: null,
  })
})

const NOT_ALLOWED = 'imports are not allowed from that URL'
const NO_ADDRESS = 'must be a valid URL'

/** Targets that this forge must not reach, and invalid URLs. */
const refusedAddresses = (own: string, local: boolean): [string, string][] => [
  [`${own}/root/x.git`, NOT_ALLOWED],
  ['http://example.com:25/x.git', NOT_ALLOWED],
  ['http://example.com:21/x.git', NOT_ALLOWED],
  ['ext::sh -c touch% x', NO_ADDRESS],
  ['file:///etc/passwd', NO_ADDRESS],
  ['ssh://git@example.com/x.git', NO_ADDRESS],
  ['/etc/passwd', NO_ADDRESS],
  ['--upload-pack=x', NO_ADDRESS],
  ['javascript:alert(1)', NO_ADDRESS],
  ['http://', NO_ADDRESS],
  ['http://-x/x.git', NO_ADDRESS],
  ['http://x-.example.com/x.git', NO_ADDRESS],
  ['git://example.com/x%0ahost=y', NO_ADDRESS],
  [`http://example.com/${'x'.repeat(2000)}`, NO_ADDRESS],
  ...(local
    ? ([
        'http://127.0.0.1:8080/x.git',
        'http://localhost:8080/x.git',
        'http://ip6-localhost/x.git',
        'http://ip6-loopback/x.git',
        'http://10.1.2.3/x.git',
        'http://192.168.0.1/x.git',
        'http://169.254.169.254/latest/meta-data',
        'http://[::1]:8080/x.git',
        'http://[::ffff:127.0.0.1]:8080/x.git',
        'http://[::ffff:10.0.0.1]/x.git',
        'http://2130706433:8080/x.git',
        'http://0177.0.0.1:8080/x.git',
        'http://0x7f.1:8080/x.git',
        'http://0.0.0.0:8080/x.git',
        'git://127.0.0.1/x.git',
        'http://jo:secret@127.0.0.1:8080/x.git',
      ].map((url) => [url, NOT_ALLOWED]) as [string, string][])
    : []),
]

test.each([true, false])('addresses are refused on create and on update; local ones: %s', async (local) => {
  await using forge = await startForge()
  await allowLocal(forge, !local)
  const jane = await forge.user()
  const { body: project } = await jane.post('/projects', { name: 'Saw' })
  const before = [(await jane.get('/projects', { owned: true })).body, await forge.events()]
  for (const [import_url, text] of refusedAddresses(forge.url, local)) {
    const refusal = { status: 400, body: { message: { import_url: [text] } }, headers }
    expect(await jane.post('/projects', { name: 'Other', import_url }), import_url).toEqual(refusal)
    expect(await jane.put(`/projects/${project.id}`, { import_url }), import_url).toEqual(refusal)
  }
  expect([(await jane.get('/projects', { owned: true })).body, await forge.events()]).toEqual(before)
})

test('credentials that are no escapes stand for themselves', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin({ credentials: { username: '100%', password: 'a%zz' } })
  const { url } = await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  const project = await imported(forge, await forge.user(), url.replace('http://', 'http://100%:a%zz@'))
  expect(project).toMatchObject({ import_status: 'finished', import_url: url })
})

test('an address is looked at again before it is connected to', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  const { url } = await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  const jane = await forge.user()
  let id = 0
  // The worker pauses while queries are counted.
  await forge.queries(async () => {
    id = (await jane.post('/projects', { name: 'Saw', import_url: url })).body.id
    await allowLocal(forge, false)
  })
  await forge.settle()
  expect((await jane.get(`/projects/${id}`)).body).toMatchObject({
    import_status: 'failed',
    import_error: 'Requests to the local network are not allowed',
    empty_repo: true,
  })
  expect(origin.requests).toEqual([])
})

/** Fakes name resolution with one answer after the other. The last one repeats. */
function answering(...answers: string[][]): Disposable & { asked: () => number } {
  const { lookup } = dns
  let asked = 0
  dns.lookup = (async () =>
    (answers[asked++] ?? answers.at(-1)!).map((address) => ({ address, family: 4 }))) as unknown as typeof lookup
  syncBuiltinESMExports()
  return {
    asked: () => asked,
    [Symbol.dispose]() {
      dns.lookup = lookup
      syncBuiltinESMExports()
    },
  }
}

test('security 2: a name that leads elsewhere by and by leads nowhere', async () => {
  await using forge = await startForge()
  await allowLocal(forge, false)
  await using origin = await startGitOrigin()
  await origin.addRepository('x.git', ...COMMITS)
  const jane = await forge.user()
  const [outside, inside] = ['93.184.215.14', '127.0.0.1']
  const schemes = ['http', 'git']
  for (const [n, scheme] of schemes.entries()) {
    // Public when the request is checked, internal when the repository is fetched.
    using names = answering([outside], [inside])
    const import_url = `${scheme}://rebound.example:${origin.port}/x.git`
    const { status, body } = await jane.post('/projects', { name: `Saw ${n}`, import_url })
    expect(status).toBe(201)
    await forge.settle()
    expect((await jane.get(`/projects/${body.id}`)).body).toMatchObject({
      import_status: 'failed',
      import_error: 'Requests to the local network are not allowed',
    })
    expect(names.asked()).toBe(2)
    // The same for a later change, and if one of several addresses is internal.
    using _mixed = answering([outside, inside])
    expect((await jane.put(`/projects/${body.id}`, { import_url })).status).toBe(400)
    expect((await jane.post('/projects', { name: `Mixed ${n}`, import_url })).status).toBe(400)
  }
  expect(origin.requests).toEqual([])
})

test('security 2: what was checked is what is connected to, though the name is inside by then', async () => {
  await using forge = await startForge()
  // A second address of this machine stands for another machine.
  await using target = await startGitOrigin({ host: '127.0.0.2' })
  await using inside = await startGitOrigin({ port: target.port })
  for (const origin of [target, inside]) await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  using names = answering(['127.0.0.2'], ['127.0.0.2'], ['127.0.0.1'])
  // The resolver of the system, which git would use, answers 127.0.0.1.
  const import_url = `http://localhost:${target.port}/x.git`
  const project = await imported(forge, await forge.user(), import_url)
  expect(project).toMatchObject({ import_status: 'finished', empty_repo: false })
  expect(target.requests.length).toBeGreaterThan(1)
  expect(inside.requests).toEqual([])
  expect(names.asked()).toBe(2)
})

test.each<[string, (origin: GitOrigin) => string, string]>([
  ['a missing repository', ({ url }) => `${url}/missing.git`, 'The repository was not found'],
  ['an address nobody listens at', () => 'http://127.0.0.1:1024/x.git', 'The server cannot be reached'],
  ['a name that means nothing', () => 'http://nowhere.invalid/x.git', 'The host cannot be resolved'],
])('%s fails with a short word', async (_what, address, message) => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  await allowLocal(forge)
  const jane = await forge.user()
  const project = await imported(forge, jane, address(origin))
  expect(project).toMatchObject({ import_status: 'failed', import_error: message, empty_repo: true })
  expect(await runGit([`--git-dir=${await dirOf(forge, project.id)}`, 'for-each-ref'])).toBe('')

  const { url } = await origin.addRepository('x.git', ...COMMITS)
  await jane.put(`/projects/${project.id}`, { import_url: url })
  await forge.settle()
  expect((await jane.get(`/projects/${project.id}`)).body).toMatchObject({
    import_status: 'finished',
    import_error: null,
    default_branch: 'trunk',
  })
  expect(await jane.put(`/projects/${project.id}`, { import_url: url })).toMatchObject({ status: 400 })
})

test('a redirect is not followed', async () => {
  await using forge = await startForge()
  await using inner = await startGitOrigin()
  await inner.addRepository('x.git', ...COMMITS)
  await using outer = await startGitOrigin({ redirectTo: inner.url })
  await allowLocal(forge)
  const project = await imported(forge, await forge.user(), `${outer.url}/x.git`)
  expect(project).toMatchObject({ import_status: 'failed', empty_repo: true })
  expect(project.import_error).toBe('The server redirects to another URL: import from that URL')
  expect(inner.requests).toEqual([])
})

test('wrong credentials are told, and told to nobody', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin({ credentials: { username: 'jo', password: 'right' } })
  const { url } = await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  const project = await imported(forge, await forge.user(), url.replace('http://', 'http://jo:s3cret@'))
  expect(project).toMatchObject({ import_status: 'failed', import_error: 'The server rejected the credentials' })
  expect(JSON.stringify(project)).not.toContain('s3cret')
})

test('the instance may bound what is imported', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  const { url } = await origin.addRepository('x.git', filesLike(900_000, 900_000))
  await allowLocal(forge)
  const jane = await forge.user()
  await forge.administrator.put('/application/settings', { max_import_size: 1 })
  expect(await imported(forge, jane, url)).toMatchObject({
    import_status: 'failed',
    import_error: 'The repository is too large',
  })
})

test('a run that was killed is run again, wherever it had come to', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  const { url, dir } = await origin.addRepository('x.git', ...COMMITS)
  await allowLocal(forge)
  const jane = await forge.user()
  const ids: number[] = []
  await forge.queries(async () => {
    for (const name of ['early', 'between', 'late']) {
      ids.push((await jane.post('/projects', { name, import_url: url })).body.id)
    }
    const [, between, late] = await Promise.all(ids.map((id) => dirOf(forge, id)))
    await forge.app.db.updateTable('projects').set({ import_status: 'started' }).execute()
    await rm(between!, { recursive: true })
    await runGit(['--git-dir', late!, 'fetch', '--quiet', dir, '+refs/*:refs/*'])
    await runGit(['--git-dir', late!, 'symbolic-ref', 'HEAD', 'refs/heads/trunk'])
  })
  await forge.settle()
  for (const id of ids) {
    const shown = (await jane.get(`/projects/${id}`)).body
    expect(shown).toMatchObject({ import_status: 'finished', default_branch: 'trunk' })
  }
})

test('one import at a time', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin()
  const { url } = await origin.addRepository('x.git', ...COMMITS)
  const other = await origin.addRepository('y.git', { branch: 'other' })
  await allowLocal(forge)
  const jane = await forge.user()
  let id = 0
  await forge.queries(async () => {
    id = (await jane.post('/projects', { name: 'Saw', import_url: url })).body.id
    expect(await jane.put(`/projects/${id}`, { import_url: other.url, description: 'new' })).toEqual({
      status: 400,
      body: { message: { import_url: ['can not be changed while an import is under way'] } },
      headers,
    })
  })
  await forge.settle()
  expect((await jane.get(`/projects/${id}`)).body).toMatchObject({
    import_status: 'finished',
    import_url: url,
    default_branch: 'trunk',
    description: null,
  })
  const { body: empty } = await jane.post('/projects', { name: 'Empty' })
  await forge.queries(async () => {
    const puts = [url, other.url, url].map((import_url) => jane.put(`/projects/${empty.id}`, { import_url }))
    expect((await Promise.all(puts)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400])
  })
  await forge.settle()
  expect((await jane.get(`/projects/${empty.id}`)).body.import_status).toBe('finished')
})

test('a project that is deleted while it is filled ends the import, and leaves nothing', async () => {
  await using forge = await startForge()
  const { promise: asked, resolve: onRequest } = Promise.withResolvers<unknown>()
  await using origin = await startGitOrigin({ stallAfter: 100_000, onRequest })
  const { url } = await origin.addRepository('x.git', filesLike(500_000, 500_000))
  await allowLocal(forge)
  const jane = await forge.user()
  const { id } = (await jane.post('/projects', { name: 'Saw', import_url: url })).body
  await asked
  await expect.poll(async () => (await rowOf(forge, id))!.import_status).toBe('started')
  const dir = await dirOf(forge, id)
  expect((await jane.delete(`/projects/${id}`)).status).toBe(204)
  await forge.settle()
  expect(await rowOf(forge, id)).toBeUndefined()
  expect(existsSync(dir)).toBe(false)
})

test('an import is cancelled, under way or not yet begun; the project stays, empty, and takes another', async () => {
  await using forge = await startForge()
  const { promise: asked, resolve: onRequest } = Promise.withResolvers<unknown>()
  await using origin = await startGitOrigin({ stallAfter: 100_000, onRequest })
  const large = await origin.addRepository('x.git', filesLike(500_000, 500_000))
  await allowLocal(forge)
  const jane = await forge.user()
  const create = async (name: string) =>
    (await jane.post('/projects', { name, import_url: large.url })).body.id as number
  const statusOf = async (id: number) => {
    const { import_status, import_error } = (await jane.get(`/projects/${id}/import`)).body
    return [import_status, import_error]
  }
  const cancelled = ['failed', 'The import was cancelled']

  const id = await create('Saw')
  await asked
  await expect.poll(async () => (await rowOf(forge, id))!.import_status).toBe('started')
  expect((await jane.delete(`/projects/${id}/import`)).status).toBe(204)
  expect(await statusOf(id)).toEqual(cancelled)
  await forge.settle()
  expect(await statusOf(id)).toEqual(cancelled)
  expect((await jane.get(`/projects/${id}`)).body.empty_repo).toBe(true)
  expect((await jane.delete(`/projects/${id}/import`)).status).toBe(304)

  const waiting = await create('Plane')
  expect((await jane.delete(`/projects/${waiting}/import`)).status).toBe(204)
  await forge.settle()
  expect(await statusOf(waiting)).toEqual(cancelled)

  await using quick = await startGitOrigin()
  const { url } = await quick.addRepository('y.git', ...COMMITS)
  expect((await jane.put(`/projects/${id}`, { name: 'Saw', import_url: url })).status).toBe(200)
  await forge.settle()
  expect(await statusOf(id)).toEqual(['finished', null])
})

test('progress is told while it goes on', async () => {
  await using forge = await startForge()
  await using origin = await startGitOrigin({ stallAfter: 400_000 })
  const { url } = await origin.addRepository('x.git', filesLike(...Array(8).fill(100_000)))
  await allowLocal(forge)
  const jane = await forge.user()
  const { id } = (await jane.post('/projects', { name: 'Saw', import_url: url })).body
  await vi.waitFor(async () => {
    const { import_status, stats } = (await jane.get(`/projects/${id}/import`)).body
    expect([import_status, stats?.progress]).toEqual(['started', expect.any(Number)])
  }, 10_000)
  await jane.delete(`/projects/${id}`)
  await forge.settle()
})

test('readers see the progress of an import; only maintainers see why it failed', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const tables = [
    ['private', [401, 404, 404, 200, 200, 200, 200, 200, 200, 401]],
    ['public', [401, 200, 200, 200, 200, 200, 200, 200, 200, 401]],
  ] as const
  for (const [visibility, statuses] of tables) {
    const source = await openSource(forge, 'projects', { visibility })
    const callers = await callersOf(forge, source)
    expect(await statusesOf(callers, (caller) => caller.get(`${source.url}/import`))).toEqual(statuses)
    expect((await callers.master.get(`${source.url}/import`)).body).toMatchObject({
      import_status: 'none',
      import_type: null,
      import_error: null,
      stats: null,
    })
    expect((await callers.developer.get(`${source.url}/import`)).body).not.toHaveProperty('import_error')
  }
})
