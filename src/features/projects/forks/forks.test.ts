import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { callersOf, costOf, openSource, statusesOf, type Source } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../repositories/repository.ts'

const headers: unknown = expect.anything()
const FORBIDDEN = { message: { forked_from_project_id: ['is forbidden'] } }
const TAKEN = { message: { name: ['has already been taken'], path: ['has already been taken'] } }
const NO_TARGET = { message: '404 Target Namespace Not Found' }
const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (c) => c.charCodeAt(0),
)

const rowOf = ({ app }: TestForge, id: number) =>
  app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const inRepository = async (forge: TestForge, id: number, ...args: string[]) =>
  runGit([`--git-dir=${repositoryDir(forge.app, await rowOf(forge, id))}`, ...args])

/** Two commits on `trunk`, a tag and a branch. */
async function fill(forge: TestForge, { id }: { id: number }): Promise<void> {
  const dir = repositoryDir(forge.app, await rowOf(forge, id))
  const commit = (message: string, files: Record<string, string>) =>
    `commit refs/heads/trunk\ncommitter A <a@example.com> 1700000000 +0000\ndata <<.\n${message}\n.\n` +
    Object.entries(files)
      .map(([path, text]) => `M 100644 inline ${path}\ndata <<.\n${text}\n.\n`)
      .join('')
  const stream = commit('one', { 'README.md': 'hello', 'src/a': 'a' }) + commit('two', { 'b.txt': 'b' })
  const ends = 'reset refs/heads/side\nfrom refs/heads/trunk\n\nreset refs/tags/v1\nfrom refs/heads/trunk\n\n'
  await runGit([`--git-dir=${dir}`, 'fast-import', '--quiet'], Buffer.from(stream + ends))
  await runGit([`--git-dir=${dir}`, 'symbolic-ref', 'HEAD', 'refs/heads/trunk'])
  await forge.app.db
    .updateTable('projects')
    .set({ empty_repo: false, default_branch: 'trunk' })
    .where('id', '=', id)
    .execute()
}

const forksCount = async (source: Source) => (await source.owner.get(source.url)).body.forks_count

test('a fork is there at once, and its repository a little later', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public', description: 'cuts', tag_list: 'a,b' })
  await fill(forge, source)
  await source.owner.put(source.url, { shared_runners_enabled: false, jobs_enabled: false, wiki_enabled: false })
  const picture = new FormData()
  picture.set('avatar', new File([PNG], 'saw.png', { type: 'image/png' }))
  await source.owner.put(source.url, picture)
  const jane = await forge.user()
  const events = await forge.events()

  const forked = await jane.post(`${source.url}/fork`)
  expect(forked.status).toBe(201)
  expect(forked.body).toMatchObject({
    name: 'Saw',
    path: 'saw',
    path_with_namespace: `${jane.username}/saw`,
    description: 'cuts',
    visibility: 'public',
    creator_id: jane.id,
    default_branch: null,
    empty_repo: true,
    tag_list: [],
    shared_runners_enabled: false,
    jobs_enabled: false,
    wiki_enabled: true,
    import_status: 'scheduled',
    import_url: null,
    import_error: null,
    runners_token: expect.stringMatching(/^[\w-]{20}$/),
    avatar_url: `${forge.url}/uploads/-/system/project/avatar/${forked.body.id}/saw.png`,
    forked_from_project: { id: source.id, path_with_namespace: source.path.slice(1), forks_count: 1 },
  })
  expect(await forge.events()).toEqual([...events, 'project.created'])
  expect(await forksCount(source)).toBe(1)

  await forge.settle()
  const url = `/projects/${forked.body.id}`
  expect((await jane.get(url, { statistics: true })).body).toMatchObject({
    import_status: 'finished',
    empty_repo: false,
    default_branch: 'trunk',
    readme_url: `${forge.url}/${jane.username}/saw/-/blob/trunk/README.md`,
    statistics: { commit_count: 2, repository_size: expect.any(Number) },
  })
  const refs = ['for-each-ref', '--format=%(objectname) %(refname)']
  expect(await inRepository(forge, forked.body.id, ...refs)).toBe(await inRepository(forge, source.id, ...refs))
  expect((await jane.get(`${url}/protected_branches`)).body).toMatchObject([{ name: 'trunk' }])
  expect((await fetch(forked.body.avatar_url)).status).toBe(200)
  expect((await jane.get(`${url}/import`)).body).toMatchObject({ import_status: 'finished', import_type: 'fork' })
})

test('an empty repository is forked at once', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'internal' })
  const jane = await forge.user()
  await forge.stopWorker()
  expect((await jane.post(`${source.url}/fork`)).body).toMatchObject({
    import_status: 'finished',
    visibility: 'internal',
    empty_repo: true,
  })
  // A source with only tags also needs a copy.
  const tree = await inRepository(forge, source.id, 'hash-object', '-wt', 'tree', '/dev/null')
  await inRepository(forge, source.id, 'tag', 'one', tree.trim())
  const { body } = await jane.post(`${source.url}/fork`, { name: 'Tagged', path: 'tagged' })
  expect(body).toMatchObject({ import_status: 'scheduled' })
})

test('the namespace is given by id, path or name in any case, under any of its names', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const { body: group } = await administrator.post('/groups', {
    name: 'Big Tools',
    path: 'big-tools',
    visibility: 'public',
  })
  const { body: inner } = await administrator.post('/groups', {
    name: 'Inner',
    path: 'inner',
    parent_id: group.id,
    visibility: 'private',
  })
  let forks = 0
  const given: [Record<string, unknown>, string][] = [
    [{ namespace: group.id }, 'big-tools'],
    [{ namespace: String(group.id) }, 'big-tools'],
    [{ namespace: 'BIG-tools' }, 'big-tools'],
    [{ namespace: 'big TOOLS' }, 'big-tools'],
    [{ namespace: 'big-tools/inner' }, 'big-tools/inner'],
    [{ namespace: 'inner' }, 'big-tools/inner'],
    [{ namespace_id: inner.id }, 'big-tools/inner'],
    [{ namespace_path: 'big-tools' }, 'big-tools'],
    [{ namespace: source.owner.username }, source.owner.username],
    [{ namespace: '' }, 'root'],
    [{ namespace: null }, 'root'],
  ]
  for (const [input, full_path] of given) {
    const name = `Fork ${++forks}`
    const { body } = await administrator.post(`${source.url}/fork`, { ...input, name, path: `fork-${forks}` })
    expect(body).toMatchObject({ name, path_with_namespace: `${full_path}/fork-${forks}` })
    expect(body.visibility).toBe(full_path === 'big-tools/inner' ? 'private' : 'public')
  }
  expect(await forksCount(source)).toBe(given.length)
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'internal' })
  const strange = await openSource(forge, 'groups', { visibility: 'public' })
  const { body: narrow } = await source.owner.post('/groups', { name: 'Narrow', path: 'narrow' })
  const jane = await forge.user()
  const poor = await forge.user({ projects_limit: 0 })
  await jane.post(`${source.url}/fork`)
  const before = [await forge.events(), await forksCount(source)]
  const higher = 'public is not allowed since the fork source project has lower visibility.'
  const path = source.path.slice(1)

  const refusals: [Client, Record<string, unknown>, number, unknown][] = [
    [jane, {}, 409, TAKEN],
    [jane, { name: 'Other' }, 409, { message: { path: ['has already been taken'] } }],
    [jane, { path: 'other' }, 409, { message: { name: ['has already been taken'] } }],
    [source.owner, { namespace: source.group.id }, 409, TAKEN],
    [jane, { namespace: 4_000_000 }, 404, NO_TARGET],
    [jane, { namespace: 'nowhere' }, 404, NO_TARGET],
    [jane, { namespace: strange.id }, 404, NO_TARGET],
    [jane, { namespace: source.owner.username }, 404, NO_TARGET],
    [jane, { namespace: narrow.path }, 404, NO_TARGET],
    [source.owner, { visibility: 'public' }, 409, { message: { visibility_level: [higher] } }],
    [
      source.owner,
      { namespace: narrow.id, visibility: 'internal' },
      409,
      { message: { visibility_level: ['internal is not allowed in a private group.'] } },
    ],
    [source.owner, { path: '-x' }, 409, { message: { path: expect.any(Array) } }],
    [
      poor,
      {},
      403,
      { error: ['Personal project creation is not allowed. Please contact your administrator with questions'] },
    ],
  ]
  for (const [caller, input, status, body] of refusals) {
    expect(await caller.post(`${source.url}/fork`, input)).toEqual({ status, body, headers })
  }
  expect(await jane.post(`/projects/${encodeURIComponent(`${path}x`)}/fork`)).toMatchObject({
    status: 404,
    body: { message: '404 Project Not Found' },
  })
  expect([await forge.events(), await forksCount(source)]).toEqual(before)
})

test('users who can read the code can fork it', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external (with a project limit of 0), guest, reporter … administrator, blocked.
  const tables = [
    ['private', [401, 404, 404, 409, 201, 201, 201, 201, 201, 401]],
    ['public', [401, 201, 403, 201, 201, 201, 201, 201, 201, 401]],
  ] as const
  for (const [visibility, statuses] of tables) {
    const source = await openSource(forge, 'projects', { visibility })
    const callers = await callersOf(forge, source)
    let n = 0
    const fork = (caller: Client) =>
      caller.post(`${source.url}/fork`, { name: `${visibility}${++n}`, path: `${visibility}${n}` })
    expect(await statusesOf(callers, fork)).toEqual(statuses)
    expect(await statusesOf(callers, (caller) => caller.get(`${source.url}/forks`))).toEqual(
      visibility === 'private'
        ? [404, 404, 404, 200, 200, 200, 200, 200, 200, 401]
        : [200, 200, 200, 200, 200, 200, 200, 200, 200, 401],
    )
  }
})

test('a guest of a private project is told what is forbidden', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const guest = await forge.user()
  await source.owner.post(`${source.url}/members`, { user_id: guest.id, access_level: 10 })
  expect(await guest.post(`${source.url}/fork`)).toEqual({ status: 409, body: FORBIDDEN, headers })
  expect(await forksCount(source)).toBe(0)
})

test('what is still being imported is not forked', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  await forge.app.db.updateTable('projects').set({ import_status: 'started' }).execute()
  expect(await (await forge.user()).post(`${source.url}/fork`)).toEqual({
    status: 409,
    body: { message: { forked_from_project_id: ['is still being imported'] } },
    headers,
  })
})

test('a project may keep its code or its forks to its people', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  for (const switched of ['forking_access_level', 'repository_access_level']) {
    const source = await openSource(forge, 'projects', { visibility: 'public' })
    const answers = async (level: string) => {
      await source.owner.put(source.url, { [switched]: level })
      const name = `${switched}-${level}`.replaceAll('_', '-')
      return Promise.all(
        [jane, source.owner].map(
          async (caller) => (await caller.post(`${source.url}/fork`, { name, path: name })).status,
        ),
      )
    }
    expect(await answers('disabled')).toEqual([409, 409])
    expect(await answers('private')).toEqual([409, 201])
    expect(await answers('enabled')).toEqual([201, 201])
    expect(await forksCount(source)).toBe(3)
  }
})

test('a restricted visibility is lowered without a word', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public', 'internal'] })
  expect((await (await forge.user()).post(`${source.url}/fork`)).body.visibility).toBe('private')
  expect((await forge.administrator.post(`${source.url}/fork`)).body.visibility).toBe('public')
})

test('of two who fork to the same place one comes first', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  await fill(forge, source)
  const jane = await forge.user()
  const answers = await Promise.all([1, 2, 3].map(() => jane.post(`${source.url}/fork`)))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409])
  expect(await forksCount(source)).toBe(1)
  const others = await Promise.all([forge.user(), forge.user(), forge.user()])
  await Promise.all(others.map((one) => one.post(`${source.url}/fork`)))
  expect(await forksCount(source)).toBe(4)
})

test('forks outlive their source', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  await fill(forge, source)
  const jane = await forge.user()
  const { body: fork } = await jane.post(`${source.url}/fork`)
  await forge.settle()
  await source.owner.delete(source.url)
  await forge.settle()
  const kept = (await jane.get(`/projects/${fork.id}`)).body
  expect(kept).toMatchObject({ import_status: 'finished', default_branch: 'trunk' })
  expect(kept).not.toHaveProperty('forked_from_project')
  expect(await inRepository(forge, fork.id, 'show', 'trunk:README.md')).toBe('hello')
})

test('what happens before the copy is made is heeded', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  await fill(forge, source)
  const [jane, john, joan, jill] = await Promise.all([forge.user(), forge.user(), forge.user(), forge.user()])
  const forkBy = async (person: typeof jane) => (await person.post(`${source.url}/fork`)).body
  const dirOf = async (id: number) => repositoryDir(forge.app, await rowOf(forge, id))

  // The worker pauses while queries are counted.
  const ids: number[] = []
  let gone = ''
  await forge.queries(async () => {
    for (const person of [jane, john]) ids.push((await forkBy(person)).id)
    await forge.administrator.delete(`/projects/${ids[0]}/fork`)
    gone = await dirOf(ids[1]!)
    await john.delete(`/projects/${ids[1]}`)
  })
  await forge.settle()
  expect((await jane.get(`/projects/${ids[0]}`)).body).toMatchObject({ import_status: 'finished', empty_repo: false })
  expect(existsSync(gone)).toBe(false)

  await forge.queries(async () => {
    ids.push((await forkBy(joan)).id)
    await rm(join(await dirOf(source.id), 'objects'), { recursive: true })
  })
  await forge.settle()
  expect((await joan.get(`/projects/${ids[2]}`)).body).toMatchObject({
    import_status: 'failed',
    import_error: 'The repository could not be copied',
    empty_repo: true,
  })
  await forge.queries(async () => {
    ids.push((await forkBy(jill)).id)
    await forge.app.db.deleteFrom('projects').where('id', '=', source.id).execute()
  })
  await forge.settle()
  expect((await jill.get(`/projects/${ids[3]}`)).body).toMatchObject({
    import_status: 'failed',
    import_error: 'The source project is gone',
  })
  for (const id of ids.slice(2)) expect(await inRepository(forge, id, 'for-each-ref')).toBe('')
})

test('deleting a fork lowers the count', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const jane = await forge.user()
  const { body } = await jane.post(`${source.url}/fork`)
  await jane.delete(`/projects/${body.id}`)
  await forge.settle()
  expect(await forksCount(source)).toBe(0)
})

test('forks are listed as far as the viewer sees them', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const [jane, john] = [await forge.user(), await forge.user()]
  const open = (await jane.post(`${source.url}/fork`)).body
  const secret = (await john.post(`${source.url}/fork`, { visibility: 'private' })).body
  const idsFor = async (caller: Client, filter = {}) =>
    (await caller.get(`${source.url}/forks`, filter)).body.map(({ id }: { id: number }) => id)
  expect(await idsFor(jane)).toEqual([open.id])
  expect(await idsFor(john)).toEqual([secret.id, open.id])
  expect(await idsFor(forge.visitor)).toEqual([open.id])
  expect(await idsFor(john, { visibility: 'private' })).toEqual([secret.id])
  expect((await forge.visitor.get(`${source.url}/forks`)).body[0]).not.toHaveProperty('visibility')

  const cost = () => costOf(forge, () => jane.get(`${source.url}/forks`))
  const few = await cost()
  for (let n = 0; n < 10; n++) await jane.post(`${source.url}/fork`, { name: `Saw ${n}`, path: `saw-${n}` })
  expect(await cost()).toBe(few)
  const page = await jane.get(`${source.url}/forks`, { per_page: 5, page: 2 })
  expect([page.body.length, page.headers.get('x-total'), page.headers.get('x-prev-page')]).toEqual([5, '11', '1'])
})

test('administrators add and remove the relation', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const other = await openSource(forge, 'projects', { visibility: 'public' })

  const related = await administrator.post(`${other.url}/fork/${source.id}`)
  expect(related).toMatchObject({ status: 201, body: { id: other.id, forked_from_project: { id: source.id } } })
  expect(await forksCount(source)).toBe(1)
  expect((await administrator.get(`${source.url}/forks`)).body).toMatchObject([{ id: other.id }])
  expect(await administrator.post(`${other.url}/fork/${source.id}`)).toEqual({
    status: 409,
    body: { message: 'Project already forked' },
    headers,
  })
  const stale = { 'If-Unmodified-Since': new Date(forge.clock.now().getTime() - DAY).toUTCString() }
  expect((await administrator.delete(`${other.url}/fork`, undefined, stale)).status).toBe(412)
  expect(await forksCount(source)).toBe(1)

  const ends = await Promise.all([1, 2, 3].map(() => administrator.delete(`${other.url}/fork`)))
  expect(ends.toSorted((a, b) => a.status - b.status).map(({ status, body }) => [status, body])).toEqual([
    [204, ''],
    [304, ''],
    [304, ''],
  ])
  expect(await forksCount(source)).toBe(0)
  expect((await administrator.get(`${source.url}/forks`)).body).toEqual([])
  const adds = await Promise.all([1, 2, 3].map(() => administrator.post(`${other.url}/fork/${source.id}`)))
  expect(adds.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409])
  expect(await forksCount(source)).toBe(1)

  for (const unknown of [4_000_000, 'no%2Fsuch']) {
    expect(await administrator.post(`${source.url}/fork/${unknown}`)).toMatchObject({
      status: 404,
      body: { message: '404 Project Not Found' },
    })
  }
  expect(await administrator.post(`${source.url}/fork/${source.id}`)).toMatchObject({
    status: 400,
    body: { message: { forked_from_project_id: ['is invalid'] } },
  })
})

test('nobody else does', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  for (const visibility of ['private', 'public']) {
    const target = await openSource(forge, 'projects', { visibility })
    const callers = await callersOf(forge, target)
    const add = (caller: Client) => caller.post(`${target.url}/fork/${source.id}`)
    expect(await statusesOf(callers, add)).toEqual([401, 403, 403, 403, 403, 403, 403, 403, 201, 401])
    const remove = (caller: Client) => caller.delete(`${target.url}/fork`)
    expect(await statusesOf(callers, remove)).toEqual([401, 403, 403, 403, 403, 403, 403, 403, 204, 401])
  }
})
