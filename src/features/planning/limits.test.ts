import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../forge.ts'
import type { Project } from '../../forge/types.ts'

let forge: TestForge
let jane: Person

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user()
})
afterAll(() => forge[Symbol.asyncDispose]())

const set = async (limits: object) =>
  expect((await forge.administrator.put('/application/plan_limits', { plan_name: 'default', ...limits })).status).toBe(
    200,
  )

const open = (path: string): Promise<Project> => forge.project({ path }, jane)

test('a project has so many issues, whichever way they come', async () => {
  const { body: limits } = await forge.administrator.get('/application/plan_limits')
  expect([limits.project_issues, limits.noteable_notes]).toEqual([500_000, 5000])
  const [full, other] = [await open('full'), await open('other')]
  const at = `/projects/${full.id}/issues`
  await set({ project_issues: 2 })
  for (const title of ['one', 'two']) expect((await jane.post(at, { title })).status).toBe(201)
  const { iid } = await forge.issue(other, {}, jane)
  const refused = { status: 400, body: { message: { base: ['Maximum number of project issues (2) exceeded'] } } }
  const [events, comings] = [await forge.events(), `/projects/${other.id}/issues/${iid}`]
  for (const person of [jane, forge.administrator])
    for (const [path, input] of [
      [at, { title: 'three' }],
      [at, { title: 'three', iid: 77 }],
      [`${comings}/move`, { to_project_id: full.id }],
      [`${comings}/clone`, { to_project_id: full.id }],
      [`${at}/1/clone`, { to_project_id: full.id }],
    ] as const)
      expect(await person.post(path, input)).toMatchObject(refused)
  expect((await jane.get(at)).body.map((issue: { iid: number }) => issue.iid)).toEqual([2, 1])
  expect((await jane.get(comings)).body).toMatchObject({ state: 'opened', moved_to_id: null })
  expect(await forge.events()).toEqual(events)

  // Existing issues count, not their numbers; refused requests take no number.
  expect((await jane.delete(`${at}/2`)).status).toBe(204)
  expect((await jane.post(at, { title: 'three' })).body).toMatchObject({ iid: 3 })
  expect((await jane.post(at, { title: 'four' })).status).toBe(400)
  expect((await jane.put(`${at}/1`, { state_event: 'close' })).status).toBe(200)
  expect((await jane.post(at, { title: 'four' })).status).toBe(400)
  expect((await jane.post(`/projects/${other.id}/issues`, { title: 'beside' })).status).toBe(201)
  await set({ project_issues: 0 })
  expect((await jane.post(at, { title: 'four', iid: 9 })).body).toMatchObject({ iid: 9 })
  await set({ project_issues: 500_000 })
})

test('what is talked about has so many notes, and is changed beyond them', async () => {
  const project = await open('talk')
  const { iid: request } = await forge.mergeRequest(project, {}, jane)
  const { id: snippet } = await forge.snippet(project, {}, jane)
  const { body: commits } = await jane.get(`/projects/${project.id}/repository/commits`)
  await forge.issue(project, {}, jane)
  const base = `/projects/${project.id}`
  await set({ noteable_notes: 2 })
  for (const at of [
    `${base}/issues/1`,
    `${base}/merge_requests/${request}`,
    `${base}/snippets/${snippet}`,
    `${base}/repository/commits/${commits[0].id}`,
  ]) {
    const { status, body: begun } = await jane.post(`${at}/discussions`, { body: 'one' })
    expect([at, status]).toEqual([at, 201])
    const replies = `${at}/discussions/${begun.id}/notes`
    expect((await jane.post(replies, { body: 'two' })).status).toBe(201)
    const events = await forge.events()
    for (const path of [replies, `${at}/discussions`])
      expect(await jane.post(path, { body: 'three' })).toMatchObject({
        status: 400,
        body: { message: '400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}' },
      })
    expect((await jane.get(`${at}/discussions`)).body).toHaveLength(1)
    expect((await jane.get(`${at}/discussions/${begun.id}`)).body.notes).toHaveLength(2)
    expect(await forge.events()).toEqual(events)
  }

  const issue = `${base}/issues/1`
  expect((await jane.post(`${issue}/notes`, { body: 'three' })).status).toBe(400)
  // Quick actions and changes still work, and add system notes.
  expect((await jane.post(`${issue}/notes`, { body: '/close' })).status).toBe(202)
  expect((await jane.get(issue)).body).toMatchObject({ state: 'closed', user_notes_count: 2 })
  // Internal notes are counted separately.
  const say = async (body: string) => (await jane.post(`${issue}/notes`, { body, internal: true })).status
  expect([await say('one'), await say('two'), await say('three')]).toEqual([201, 201, 400])

  const { body: notes } = await jane.get(`${issue}/notes`)
  const plain = notes.find((note: { internal: boolean; system: boolean }) => !note.internal && !note.system)
  expect((await jane.delete(`${issue}/notes/${plain.id}`)).status).toBe(204)
  expect((await jane.post(`${issue}/notes`, { body: 'three' })).status).toBe(201)
  expect((await jane.post(`${issue}/notes`, { body: 'four' })).status).toBe(400)

  const drafts = `${base}/merge_requests/${request}/draft_notes`
  expect((await jane.post(drafts, { note: 'drafted' })).status).toBe(201)
  expect((await jane.post(`${drafts}/bulk_publish`)).status).toBe(400)
  expect((await jane.get(drafts)).body).toHaveLength(1)
  await set({ noteable_notes: 0 })
  expect((await jane.post(`${drafts}/bulk_publish`)).status).toBe(204)
  expect((await jane.post(`${issue}/notes`, { body: 'four' })).status).toBe(201)
})
