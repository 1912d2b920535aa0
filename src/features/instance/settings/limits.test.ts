import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Browser, hiddenFields } from '../../../../test/browser.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import type { Project } from '../../../forge/types.ts'
import { DAY, MINUTE } from '../../../clock.ts'

const PASSWORD = 'correct-horse-battery'
const HTML = { Accept: 'text/html' }
const TOO_MANY = { message: { error: 'This endpoint has been requested too many times. Try again later.' } }

let forge: TestForge
let jane: Person
let john: Person
let mill: Project
let yard: Project
let group: { id: number }
let held: Disposable

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ username: 'Jane', password: PASSWORD })
  john = await forge.user({ username: 'john' })
  mill = await forge.project({ path: 'mill', visibility: 'public' }, jane)
  yard = await forge.project({ path: 'yard', visibility: 'public' }, jane)
  group = await forge.group({ path: 'tools', visibility: 'public' }, jane)
  for (const { id } of [mill, yard]) await jane.post(`/projects/${id}/members`, { user_id: john.id, access_level: 40 })
  await forge.issue(mill, { title: 'the first' })
  held = forge.clock.hold()
})
afterAll(async () => {
  held[Symbol.dispose]()
  await forge[Symbol.asyncDispose]()
})
// A new day starts with empty counts.
beforeEach(() => forge.clock.advance(DAY))

const set = async (settings: Record<string, unknown>) =>
  expect((await forge.administrator.put('/application/settings', settings)).status).toBe(200)

const rows = async (table: 'issues' | 'notes' | 'projects' | 'draft_notes') =>
  Number(
    (
      await forge.app.db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
    ).total,
  )
const allRows = async () => [
  await rows('issues'),
  await rows('notes'),
  await rows('draft_notes'),
  await rows('projects'),
]

let made = 0
const issue = (person: Person) => person.post(`/projects/${mill.id}/issues`, { title: 'another' })
const note = (person: Person) => person.post(`/projects/${mill.id}/issues/1/notes`, { body: 'so it is' })
const project = (person: Person) => person.post('/projects', { path: `made${++made}` })
const removal = async (person: Person) => {
  const { id } = await forge.user()
  await forge.administrator.post(`/projects/${yard.id}/members`, { user_id: id, access_level: 10 })
  return person.delete(`/projects/${yard.id}/members/${id}`)
}
const read = (path: () => string) => (person: Person) => person.get(path())

test.each([
  ['issues_create_limit', 300, 201, issue, MINUTE],
  ['notes_create_limit', 300, 201, note, MINUTE],
  ['project_create_limit', 0, 201, project, DAY],
  ['members_delete_limit', 60, 204, removal, MINUTE],
  ['projects_api_limit', 0, 200, read(() => '/projects'), 10 * MINUTE],
  ['project_api_limit', 0, 200, read(() => `/projects/${mill.id}`), MINUTE],
  ['user_projects_api_limit', 0, 200, read(() => `/users/${jane.id}/projects`), MINUTE],
  ['user_starred_projects_api_limit', 0, 200, read(() => `/users/${jane.id}/starred_projects`), MINUTE],
  ['groups_api_limit', 0, 200, read(() => '/groups'), MINUTE],
  ['group_api_limit', 0, 200, read(() => `/groups/${group.id}`), MINUTE],
  ['group_projects_api_limit', 0, 200, read(() => `/groups/${group.id}/projects`), MINUTE],
] as const)('%s limits one person, and no administrator', async (name, initial, served, act, period) => {
  const { body: settings } = await forge.administrator.get('/application/settings')
  expect(settings[name]).toBe(initial)
  await set({ [name]: 2 })
  expect([(await act(jane)).status, (await act(jane)).status]).toEqual([served, served])

  const before = await allRows()
  const refused = await act(jane)
  expect([refused.status, refused.body]).toEqual([429, TOO_MANY])
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(period / 1000)
  expect(await allRows()).toEqual(before)

  expect((await act(john)).status).toBe(served)
  for (let n = 0; n < 4; n++) expect((await act(forge.administrator)).status).toBe(served)

  // A change takes effect at once.
  await set({ [name]: 4 })
  expect([(await act(jane)).status, (await act(jane)).status]).toEqual([served, 429])
  await set({ [name]: 0 })
  expect((await act(jane)).status).toBe(served)
  await set({ [name]: 1 })
  forge.clock.advance(period)
  expect([(await act(jane)).status, (await act(jane)).status]).toEqual([served, 429])
  await set({ [name]: initial })
})

test('visitors count by their network, forms as the API does, and what pages read not at all', async () => {
  await set({ project_api_limit: 1 })
  const path = `/projects/${mill.id}`
  expect([(await forge.visitor.get(path)).status, (await forge.visitor.get(path)).status]).toEqual([200, 429])
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  for (let n = 0; n < 2; n++) expect((await browser.get(`/${mill.path_with_namespace}`, HTML)).status).toBe(200)
  const form = `/${mill.path_with_namespace}/-/issues/new`
  const page = await browser.get(form, HTML)
  const submit = () => browser.post(form, { ...hiddenFields(page), _action: 'create', title: 'by a form' }, HTML)
  await set({ project_api_limit: 0, issues_create_limit: 1 })
  expect((await submit()).status).toBe(303)
  const before = await allRows()
  const refused = await submit()
  expect(refused.status).toBe(422)
  expect(refused.body).toContain('>This endpoint has been requested too many times. Try again later.<')
  expect((await issue(jane)).status).toBe(429)
  expect(await allRows()).toEqual(before)
  await set({ issues_create_limit: 300 })
})

test('members are removed so often from each project', async () => {
  await set({ members_delete_limit: 1 })
  const gone = await Promise.all([forge.user(), forge.user(), forge.user()])
  for (const { id } of [mill, yard])
    for (const person of gone)
      await forge.administrator.post(`/projects/${id}/members`, { user_id: person.id, access_level: 10 })
  const remove = async ({ id }: Project, n: number) =>
    (await jane.delete(`/projects/${id}/members/${gone[n]!.id}`)).status
  expect([await remove(mill, 0), await remove(mill, 1), await remove(yard, 0), await remove(yard, 1)]).toEqual([
    204, 429, 204, 429,
  ])
  expect((await jane.get(`/projects/${mill.id}/members/${gone[1]!.id}`)).status).toBe(200)
  await set({ members_delete_limit: 60 })
})

test('every way to create an issue, a note or a project counts as the others do', async () => {
  const { iid } = await forge.mergeRequest(yard, {}, jane)
  const snippet = await forge.snippet(mill, { visibility: 'public' }, jane)
  const [issues, request] = [`/projects/${mill.id}/issues`, `/projects/${yard.id}/merge_requests/${iid}`]
  const { body: begun } = await jane.post(`${issues}/1/discussions`, { body: 'begun' })
  const { body: commits } = await jane.get(`/projects/${yard.id}/repository/commits`)
  const commit = `/projects/${yard.id}/repository/commits/${commits[0].id}`
  const doors: Record<string, [path: string, input: Record<string, unknown>][]> = {
    issues_create_limit: [
      [issues, { title: 'more' }],
      [`${issues}/1/move`, { to_project_id: yard.id }],
      [`${issues}/1/clone`, { to_project_id: mill.id }],
    ],
    notes_create_limit: [
      [`${issues}/1/notes`, { body: 'more' }],
      [`${issues}/1/discussions`, { body: 'more' }],
      [`${issues}/1/discussions/${begun.id}/notes`, { body: 'more' }],
      [`${request}/notes`, { body: 'more' }],
      [`${request}/discussions`, { body: 'more' }],
      [`${request}/draft_notes`, { note: 'more' }],
      [`${commit}/comments`, { note: 'more' }],
      [`${commit}/discussions`, { body: 'more' }],
      [`/projects/${mill.id}/snippets/${snippet.id}/notes`, { body: 'more' }],
      [`/projects/${mill.id}/snippets/${snippet.id}/discussions`, { body: 'more' }],
    ],
    project_create_limit: [
      ['/projects', { path: 'beyond' }],
      [`/projects/${mill.id}/fork`, { namespace_id: group.id }],
    ],
  }
  forge.clock.advance(DAY)
  for (const [name, ways] of Object.entries(doors)) {
    await set({ [name]: 1 })
    expect((await { i: issue, n: note, p: project }[name[0] as 'i' | 'n' | 'p'](jane)).status).toBe(201)
    const before = await allRows()
    for (const [path, input] of ways) {
      const { status, body } = await jane.post(path, input)
      expect([path, status, body]).toEqual([path, 429, TOO_MANY])
    }
    expect(await allRows()).toEqual(before)
    await set({ [name]: 0 })
    for (const [path, input] of ways) expect([path, (await jane.post(path, input)).status]).toEqual([path, 201])
  }
  await set({ issues_create_limit: 300, notes_create_limit: 300 })
})

test('who is on the list may say as much as they like; an administrator who acts for others may, too', async () => {
  await set({ notes_create_limit: 1, notes_create_limit_allowlist: 'bot, jane' })
  const { body: settings } = await forge.administrator.get('/application/settings')
  expect(settings.notes_create_limit_allowlist).toEqual(['bot', 'jane'])
  for (let n = 0; n < 3; n++) expect((await note(jane)).status).toBe(201)
  expect([(await note(john)).status, (await note(john)).status]).toEqual([201, 429])
  const path = `/projects/${mill.id}/issues/1/notes`
  expect((await forge.administrator.post(path, { body: 'for him', sudo: john.id })).status).toBe(201)
  const many = Array.from({ length: 101 }, (_, n) => `user${n}`)
  expect(await forge.administrator.put('/application/settings', { notes_create_limit_allowlist: many })).toMatchObject({
    status: 400,
    body: { message: { notes_create_limit_allowlist: ['is too long (maximum is 100 entries)'] } },
  })
  await set({ notes_create_limit: 300, notes_create_limit_allowlist: [] })
})
