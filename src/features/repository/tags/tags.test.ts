import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf, type BuiltCommit } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const refusal = (status: number, message: string) => ({ status, headers, body: { message } })

const COMMITS: BuiltCommit[] = [
  { files: { 'README.md': 'one\n' }, at: 1_700_000_000 },
  { files: { 'README.md': 'two\n' }, at: 1_700_000_100 },
  { files: { 'README.md': 'three\n' }, at: 1_700_000_200 },
]

/** `v1.9` and `v1.10` on the first two commits, and `words`, which tags a file. */
async function open(forge: TestForge, request: Record<string, unknown> = {}) {
  const source = await openSource(forge, 'projects', request)
  const dir = await fillProject(forge, source.id, ...COMMITS)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  await git('tag', 'v1.9', 'master~1')
  await git('tag', 'v1.10', 'master~2')
  await git('tag', 'words', 'master:README.md')
  const member = async (access_level: number) => {
    const person = await forge.user()
    await source.owner.post(`${source.url}/members`, { user_id: person.id, access_level })
    return person
  }
  return { ...source, git, member, tags: `${source.url}/repository/tags`, refs: () => git('for-each-ref') }
}

const namesOf = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

test('a lightweight tag, an annotated one, and one of a file', async () => {
  await using forge = await startForge()
  const { url, tags, owner, git } = await open(forge)
  const id = await git('rev-parse', 'master')
  const light = await owner.post(tags, { tag_name: 'release/v2.json', ref: 'master' })
  expect(light).toEqual({
    status: 201,
    headers,
    body: {
      name: 'release/v2.json',
      message: null,
      target: id,
      commit: expect.objectContaining({ id, parent_ids: [await git('rev-parse', 'master~1')] }),
      release: null,
      protected: false,
      created_at: null,
    },
  })
  expect((await owner.get(`${tags}/release%2Fv2.json`)).body).toEqual(light.body)

  await owner.post(`${url}/protected_tags`, { name: 'v*' })
  const request = { tag_name: 'v3', ref: id, message: '\n Three\n\nand more \n', release_description: 'New: *all*' }
  const { status, body } = await owner.post(tags, request)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: 'v3',
    message: 'Three\n\nand more',
    commit: { id },
    release: { tag_name: 'v3', description: 'New: *all*' },
    protected: true,
  })
  expect(body.target).toBe(await git('rev-parse', 'refs/tags/v3'))
  expect(body.target).not.toBe(id)
  expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(60_000)
  const written = await git('cat-file', 'tag', 'v3')
  expect(written).toContain(`object ${id}\ntype commit\ntag v3\ntagger Owner`)
  expect(written).toContain(`<${owner.email}>`)
  expect((await owner.get(`${tags}/v3`)).body).toEqual(body)
  expect(await git('fsck', '--strict')).not.toContain('error')

  expect((await owner.get(`${tags}/words`)).body).toMatchObject({
    commit: null,
    target: await git('rev-parse', 'master:README.md'),
  })
  for (const name of ['nothing', 'master', id]) {
    expect(await owner.get(`${tags}/${name}`)).toEqual(refusal(404, '404 Tag Not Found'))
  }
})

test('tags are ordered, searched and paged', async () => {
  await using forge = await startForge()
  const { tags, owner, git } = await open(forge)
  await git('tag', '-d', 'words')
  await owner.post(tags, { tag_name: 'alpha', ref: 'master~2', message: 'just now' })
  const list = (input?: Record<string, unknown>) => owner.get(tags, input)
  expect(namesOf(await list())).toEqual(['alpha', 'v1.9', 'v1.10'])
  expect(namesOf(await list({ sort: 'asc' }))).toEqual(['v1.10', 'v1.9', 'alpha'])
  expect(namesOf(await list({ order_by: 'name' }))).toEqual(['v1.9', 'v1.10', 'alpha'])
  expect(namesOf(await list({ order_by: 'version', sort: 'asc' }))).toEqual(['alpha', 'v1.9', 'v1.10'])
  expect(namesOf(await list({ search: '^V1' }))).toEqual(['v1.9', 'v1.10'])
  expect(namesOf(await list({ search: '9$' }))).toEqual(['v1.9'])
  expect((await list({ order_by: 'size' })).status).toBe(400)
  const second = await list({ per_page: 2, page: 2 })
  expect(namesOf(second)).toEqual(['v1.10'])
  expect(second.headers.get('x-total')).toBe('3')
  const empty = await openSource(forge, 'projects')
  expect(await empty.owner.get(`${empty.url}/repository/tags`)).toMatchObject({ status: 200, body: [] })
})

test('a list costs the same, however many tags it shows', async () => {
  await using forge = await startForge()
  const { tags, owner, git } = await open(forge)
  const list = () => owner.get(tags, { per_page: 100 })
  const count = async () => (await processesOf(list)).length
  await list()
  const [few, started] = [await costOf(forge, list), await count()]
  for (let n = 0; n < 10; n++) await git('update-ref', `refs/tags/more/${n}`, 'refs/heads/master')
  expect((await list()).body).toHaveLength(13)
  expect(await costOf(forge, list)).toBe(few)
  expect(await count()).toBe(started)
  expect(started).toBeLessThanOrEqual(1)
})

test('what cannot be tagged is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const { url, tags, owner, member, refs } = await open(forge)
  await owner.post(`${url}/protected_tags`, { name: 'v2*' })
  const developer = await member(30)
  const [before, events] = [await refs(), await forge.events()]
  const table: [Record<string, unknown>, number, unknown][] = [
    [{ tag_name: 'a..b' }, 400, 'Tag name invalid'],
    [{ tag_name: '' }, 400, 'Tag name invalid'],
    [{ tag_name: `v/${'ü'.repeat(126)}` }, 400, 'Tag name invalid'],
    [{ tag_name: '-d' }, 400, 'Tag name invalid'],
    [{ tag_name: 'v1.9' }, 400, 'Tag v1.9 already exists'],
    [{ ref: 'nothing' }, 400, 'Target nothing is invalid'],
    [{ ref: 'words' }, 400, 'Target words is invalid'],
    [{ ref: '--all' }, 400, 'Target --all is invalid'],
    [{ tag_name: 'v2.0' }, 400, 'You are not allowed to create this tag as it is protected.'],
    [{ message: 'x'.repeat(70_000) }, 400, { message: ['is too long (maximum is 65535 characters)'] }],
    [{ release_description: 'x'.repeat(70_000) }, 400, { description: ['is too long (maximum is 65535 characters)'] }],
  ]
  for (const [request, status, message] of table) {
    const answer = await developer.post(tags, { tag_name: 'new', ref: 'master', ...request })
    expect([answer.status, answer.body]).toEqual([status, { message }])
  }
  expect(await developer.delete(`${tags}/nothing`)).toEqual(refusal(404, '404 Tag Not Found'))
  expect(await developer.delete(`${tags}/v1.9`)).toEqual(
    refusal(400, 'You are not allowed to change existing tags on this project.'),
  )
  expect(await refs()).toBe(before)
  expect(await forge.events()).toEqual(events)
  await owner.post(tags, { tag_name: 'v2.0', ref: 'master' })
  expect(await owner.delete(`${tags}/v2.0`)).toEqual(refusal(400, 'Protected tags cannot be deleted.'))
  const atOnce = await Promise.all(
    Array.from({ length: 4 }, () => owner.post(tags, { tag_name: 'one', ref: 'master' })),
  )
  expect(atOnce.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const late of atOnce.filter(({ status }) => status !== 201))
    expect(late).toEqual(refusal(400, 'Tag one already exists'))
})

test('a tag is deleted with its release, unless it is newer than the caller knows', async () => {
  await using forge = await startForge()
  const { url, tags, owner, refs } = await open(forge)
  await owner.post(`${tags}/v1.9/release`, { description: 'Good' })
  const since = (seconds: number) => ({ 'If-Unmodified-Since': new Date(seconds * 1000).toUTCString() })
  expect((await owner.delete(`${tags}/v1.9`, undefined, since(1_700_000_099))).status).toBe(412)
  expect(await owner.delete(`${tags}/v1.9`, undefined, since(1_700_000_100))).toEqual({
    status: 204,
    headers,
    body: '',
  })
  expect(await refs()).not.toContain('v1.9')
  expect((await owner.get(`${url}/releases`)).body).toEqual([])
  expect((await forge.events()).slice(-2)).toEqual(['repository.changed', 'release.deleted'])
  expect((await owner.delete(`${tags}/v1.10`)).status).toBe(204)
  expect((await forge.events()).at(-1)).toBe('repository.changed')
})

test('a tag has one release note', async () => {
  await using forge = await startForge()
  const { url, tags, owner, member } = await open(forge)
  const developer = await member(30)
  const note = (verb: 'post' | 'put', name: string, description?: string) =>
    developer[verb](`${tags}/${name}/release`, description === undefined ? {} : { description })
  expect(await note('put', 'v1.9', 'One')).toEqual(refusal(404, 'Release does not exist'))
  expect(await note('post', 'v1.9', 'One')).toEqual({
    status: 201,
    headers,
    body: { tag_name: 'v1.9', description: 'One' },
  })
  expect(await note('post', 'v1.9', 'Two')).toEqual(refusal(409, 'Release already exists'))
  expect(await note('put', 'v1.9', 'Three')).toEqual({
    status: 200,
    headers,
    body: { tag_name: 'v1.9', description: 'Three' },
  })
  expect(await note('post', 'nothing', 'x')).toEqual(refusal(404, 'Tag does not exist'))
  expect(await note('put', 'nothing', 'x')).toEqual(refusal(404, 'Tag does not exist'))
  expect((await note('post', 'v1.10')).body.error).toBe('description is missing')
  expect((await owner.get(`${tags}/v1.9`)).body.release).toEqual({ tag_name: 'v1.9', description: 'Three' })
  expect((await forge.events()).slice(-2)).toEqual(['release.created', 'release.updated'])

  await owner.post(`${url}/protected_tags`, { name: 'v*' })
  expect(await note('put', 'v1.9', 'Four')).toEqual(refusal(403, 'Access Denied'))
  expect(await note('post', 'v1.10', 'Four')).toEqual(refusal(403, 'Access Denied'))
})

test('readers read and developers write', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked. Callers who may
  // read the code get the 404 first; the table of roles covers write permissions.
  const tables = [
    ['private', [404, 404, 404, 403, 200, 200, 200, 200, 200, 401], [401, 404, 404, 403, 400, 400, 400, 400, 400, 401]],
    ['public', [200, 200, 200, 200, 200, 200, 200, 200, 200, 401], [401, 400, 400, 400, 400, 400, 400, 400, 400, 401]],
  ] as const
  for (const [visibility, reads, writes] of tables) {
    const source = await open(forge, { visibility })
    const callers = await callersOf(forge, source)
    const { tags } = source
    expect(await statusesOf(callers, (caller) => caller.get(tags))).toEqual(reads)
    expect(await statusesOf(callers, (caller) => caller.get(`${tags}/v1.9`))).toEqual(reads)
    expect(await statusesOf(callers, (caller) => caller.post(tags))).toEqual(writes)
    expect(await statusesOf(callers, (caller) => caller.post(`${tags}/v1.9/release`))).toEqual(writes)
    expect(await statusesOf(callers, (caller) => caller.put(`${tags}/v1.9/release`))).toEqual(writes)
  }
})
