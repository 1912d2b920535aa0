/** Lists whose texts are a megabyte each: complete, with the same headers, and read in parts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../forge.ts'
import type { Tables } from '../store/database.ts'

const ROWS = 6
const LONG = `needle ${'x'.repeat(990_000)}`

let forge: TestForge
let ann: Person
let bob: Person
let project: { readonly id: number; readonly path_with_namespace: string }

beforeAll(async () => {
  forge = await startForge()
  ann = await forge.user({ username: 'ann' })
  bob = await forge.user({ username: 'bob' })
  project = await forge.project({ visibility: 'public' }, ann)
  await forge.seed(project, { 'README.md': 'x' })
  const url = `/projects/${project.id}`
  await ann.post(`${url}/members`, { user_id: bob.id, access_level: 40 })
  for (let n = 0; n < ROWS; n++) {
    await ann.post(`${url}/issues`, { title: `needle ${n}`, assignee_ids: [bob.id] })
    await ann.post(`${url}/issues/1/notes`, { body: `needle ${n}` })
    await ann.post(`${url}/repository/branches`, { branch: `b${n}`, ref: 'master' })
    await forge.seed(project, { [`f${n}`]: 'x' }, { branch: `b${n}` })
    const input = { source_branch: `b${n}`, target_branch: 'master', title: `needle ${n}`, assignee_id: bob.id }
    await ann.post(`${url}/merge_requests`, input)
    await ann.post(`${url}/releases`, { tag_name: `v${n}`, ref: 'master', description: 'x' })
  }
  await forge.settle()
}, 60_000)
afterAll(() => forge.close())

const LISTS: [string, string, keyof Tables, string][] = [
  ['notes', '/issues/1/notes?sort=asc', 'notes', 'body'],
  ['discussions', '/issues/1/discussions?sort=asc', 'notes', 'body'],
  ['issues', '/issues?sort=asc', 'issues', 'description'],
  ['merge requests', '/merge_requests?sort=asc', 'merge_requests', 'description'],
  ['releases', '/releases?sort=asc', 'releases', 'description'],
  ['tags', '/repository/tags?sort=asc', 'releases', 'description'],
  ['events', '/events?target_type=note', 'notes', 'body'],
  ['found notes', '/search?scope=notes&search=needle', 'notes', 'body'],
  ['found issues', '/search?scope=issues&search=needle', 'issues', 'description'],
]

type Visible = Record<string, unknown> & { readonly notes?: readonly Visible[] }

async function ask(path: string, caller = ann) {
  const answer = await fetch(`${forge.url}/api/v4${path}${path.includes('?') ? '&' : '?'}per_page=${ROWS}`, caller)
  const names = ['x-total', 'x-per-page', 'x-page', 'x-next-page', 'link']
  const { length: bytes, items } = await answer
    .text()
    .then((text) => ({ ...lengthOf(text), items: JSON.parse(text) as Visible[] }))
  return {
    bytes,
    isStreamed: answer.headers.get('content-length') === null,
    items: items.map(({ id, iid, tag_name, name }) => id ?? iid ?? tag_name ?? name),
    status: answer.status,
    headers: names.map((name) => answer.headers.get(name)),
  }
}
const lengthOf = ({ length }: string) => ({ length })

async function lengthen(table: keyof Tables, column: string, text: string): Promise<void> {
  await forge.app.db
    .updateTable(table as 'notes')
    .set({ [column]: text })
    .execute()
}

async function withLongTexts<T>(table: keyof Tables, column: string, work: () => Promise<T>): Promise<T> {
  await lengthen(table, column, LONG)
  try {
    return await work()
  } finally {
    await lengthen(table, column, 'needle')
  }
}

test.each(LISTS)('%s', async (_what, path, table, column) => {
  const url = `/projects/${project.id}${path}`
  const short = await ask(url)
  expect(short).toMatchObject({ status: 200, isStreamed: false })
  expect(short.items.length).toBeGreaterThan(5)
  const long = await withLongTexts(table, column, () => ask(url))
  const { bytes, isStreamed, ...same } = long
  expect(isStreamed).toBe(true)
  expect(short).toMatchObject(same)
  expect(bytes).toBeGreaterThan(4 * LONG.length)
})

test('todos', async () => {
  const short = await ask('/todos?type=Issue', bob)
  const long = await withLongTexts('issues', 'description', () => ask('/todos?type=Issue', bob))
  expect([long.isStreamed, long.items, long.headers]).toEqual([true, short.items, short.headers])
})

test.each([
  ['an issue', 'text/html', '/-/issues/1', 'notes', 'body'],
  ['issues', 'text/html', '/-/issues', 'issues', 'description'],
  ['merge requests', 'text/html', '/-/merge_requests', 'merge_requests', 'description'],
  ['releases', 'text/html', '/-/releases', 'releases', 'description'],
  ['activity', 'text/html', '/-/activity', 'notes', 'body'],
  ['a feed of issues', 'application/atom+xml', '/-/issues.atom', 'issues', 'description'],
  ['a feed of activity', 'application/atom+xml', '.atom', 'notes', 'body'],
  ['a feed of releases', 'application/atom+xml', '/-/releases.atom', 'releases', 'description'],
] as const)('%s as a page has a bounded size', async (_what, Accept, path, table, column) => {
  const address = `${forge.url}/${project.path_with_namespace}${path}`
  const [status, length] = await withLongTexts(table, column, async () => {
    const answer = await fetch(address, { headers: { Accept } })
    return [answer.status, (await answer.text()).length]
  })
  expect(status).toBe(200)
  expect(length).toBeLessThan(5_000_000)
})

test('a discussion has a limit of bytes', async () => {
  const url = `/projects/${project.id}/issues/2/discussions`
  const { body: first } = await ann.post(url, { body: 'x' })
  const at = `${url}/${first.id}/notes`
  const body = 'y'.repeat(1_000_000)
  for (let n = 0; n < 8; n++) expect((await ann.post(at, { body })).status).toBe(201)
  const refused = { status: 400, body: { message: 'A discussion has at most 8 MB of text' } }
  expect(await ann.post(at, { body })).toMatchObject(refused)
  expect(await ann.put(`${at}/${first.notes[0].id}`, { body })).toMatchObject(refused)
  expect((await ann.get(`${url}/${first.id}`)).body.notes.map((note: Visible) => String(note['body']).length)).toEqual([
    1,
    ...Array.from({ length: 8 }, () => 1_000_000),
  ])
})
