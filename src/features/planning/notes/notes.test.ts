import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

const bodies = (list: { body: string }[]) => list.map(({ body }) => body)

test('a note is said, read, changed and deleted, and the issue counts it', async () => {
  const { id, issue, people } = await crewOf(forge)
  const url = await issue()
  const before = (await people.guest.get(url)).body
  forge.clock.advance(60_000)
  const answer = await people.guest.post(`${url}/notes`, { body: 'First' })
  expect(answer).toMatchObject({ status: 201 })
  expect(answer.body).toEqual({
    id: expect.any(Number),
    type: null,
    body: 'First',
    attachment: null,
    author: expect.objectContaining({ id: people.guest.id }),
    created_at: expect.stringMatching(/Z$/),
    updated_at: answer.body.created_at,
    system: false,
    noteable_id: before.id,
    noteable_type: 'Issue',
    noteable_iid: before.iid,
    project_id: id,
    commit_id: null,
    resolvable: false,
    confidential: false,
    internal: false,
    commands_changes: {},
    imported: false,
    imported_from: 'none',
  })
  const after = (await people.guest.get(url)).body
  expect(after.user_notes_count).toBe(1)
  expect(after.updated_at > before.updated_at).toBe(true)
  expect((await people.guest.get(`${url}/notes/${answer.body.id}`)).body).toEqual(answer.body)

  forge.clock.advance(60_000)
  const changed = await people.master.put(`${url}/notes/${answer.body.id}`, { body: 'Second' })
  expect(changed).toMatchObject({ status: 200, body: { body: 'Second', author: { id: people.guest.id } } })
  expect(changed.body.updated_at > answer.body.updated_at).toBe(true)
  expect((await people.guest.delete(`${url}/notes/${answer.body.id}`)).status).toBe(204)
  expect((await people.guest.get(`${url}/notes/${answer.body.id}`)).body).toEqual({ message: '404 Not found' })
  expect((await people.guest.get(url)).body.user_notes_count).toBe(0)
})

test('notes are listed newest first, in other orders, and by what they are', async () => {
  const { issue, owner } = await crewOf(forge)
  const url = await issue()
  for (const body of ['one', 'two', 'three']) {
    forge.clock.advance(1000)
    await owner.post(`${url}/notes`, { body })
  }
  forge.clock.advance(1000)
  await owner.put(url, { title: 'Another' })
  const list = async (query: Record<string, unknown> = {}) => bodies((await owner.get(`${url}/notes`, query)).body)
  const [change] = await list()
  expect(change).toMatch(/^changed title from /)
  expect(await list()).toEqual([change, 'three', 'two', 'one'])
  expect(await list({ sort: 'asc' })).toEqual(['one', 'two', 'three', change])
  expect(await list({ activity_filter: 'only_comments' })).toEqual(['three', 'two', 'one'])
  expect(await list({ activity_filter: 'only_activity' })).toEqual([change])
  const [first] = (await owner.get(`${url}/notes`, { sort: 'asc' })).body
  forge.clock.advance(1000)
  await owner.put(`${url}/notes/${first.id}`, { body: 'one more' })
  expect(await list({ order_by: 'updated_at' })).toEqual(['one more', change, 'three', 'two'])
  const page = await owner.get(`${url}/notes`, { per_page: 2, page: 2 })
  expect(bodies(page.body)).toEqual(['two', 'one more'])
  expect(page.headers.get('x-total')).toBe('4')
})

test('internal notes and answers to them are for Reporters and above', async () => {
  const { issue, people } = await crewOf(forge)
  const url = await issue()
  const { body: hidden } = await people.reporter.post(`${url}/notes`, { body: 'Between us', internal: true })
  expect(hidden).toMatchObject({ internal: true, confidential: true })
  await people.reporter.post(`${url}/notes`, { body: 'So too', confidential: true })
  const [{ id }] = (await people.reporter.get(`${url}/discussions`)).body
  const answer = await people.developer.post(`${url}/discussions/${id}/notes`, { body: 'Indeed' })
  expect(answer).toMatchObject({ status: 201, body: { internal: true } })

  expect((await people.guest.get(`${url}/notes`)).body).toEqual([])
  expect((await people.guest.get(`${url}/discussions`)).body).toEqual([])
  for (const path of [`notes/${hidden.id}`, `discussions/${id}`, `discussions/${id}/notes/${hidden.id}`])
    expect((await people.guest.get(`${url}/${path}`)).status, path).toBe(404)
  expect((await people.guest.put(`${url}/notes/${hidden.id}`, { body: 'x' })).status).toBe(404)
  expect((await people.guest.post(`${url}/notes`, { body: 'x', internal: true })).status).toBe(403)
  expect((await people.reporter.get(`${url}/notes`)).body).toHaveLength(3)
})

test('owners say when, others now', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  const created_at = '2020-01-02T03:04:05.000Z'
  expect((await owner.post(`${url}/notes`, { body: 'x', created_at })).body.created_at).toBe(created_at)
  expect((await people.master.post(`${url}/notes`, { body: 'x', created_at })).body.created_at).not.toBe(created_at)
})

test('what changes tell stays as it is', async () => {
  const { issue, owner } = await crewOf(forge)
  const url = await issue()
  await owner.put(url, { state_event: 'close' })
  const [note] = (await owner.get(`${url}/notes`)).body
  expect(note).toMatchObject({ body: 'closed', system: true })
  expect(await owner.put(`${url}/notes/${note.id}`, { body: 'x' })).toMatchObject({ status: 200, body: note })
  expect((await owner.delete(`${url}/notes/${note.id}`)).status).toBe(403)
  expect((await owner.get(`${url}/notes`)).body).toEqual([note])
})

const blank = '{:note=>["can\'t be blank"]}'

test.each([
  ['guest', 'post', '', {}, 400, { error: 'body is missing' }],
  ['guest', 'post', '', { body: ' \n' }, 400, { message: `400 Bad request - Note ${blank}` }],
  [
    'guest',
    'post',
    '',
    { body: 'x'.repeat(1_000_001) },
    400,
    { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' },
  ],
  ['master', 'put', '/NOTE', { body: '' }, 400, { message: `Failed to save note ${blank}` }],
  ['developer', 'put', '/NOTE', { body: 'x' }, 403, { message: '403 Forbidden' }],
  ['developer', 'delete', '/NOTE', undefined, 403, { message: '403 Forbidden' }],
  ['master', 'put', '/999999', { body: 'x' }, 404, { message: '404 Not found' }],
  ['guest', 'get', '/word', undefined, 400, { error: 'note_id is invalid' }],
] as const)('%s: %s notes%s with %o is refused', async (role, method, path, input, status, body) => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  const { body: note } = await owner.post(`${url}/notes`, { body: 'Stays' })
  const events = await forge.events()
  const address = `${url}/notes${path.replace('NOTE', note.id)}`
  const answer = await people[role].request(method.toUpperCase(), address, input)
  expect(answer).toMatchObject({ status, body })
  expect((await owner.get(`${url}/notes`)).body).toEqual([note])
  expect(await forge.events()).toEqual(events)
})

test('a hidden issue is told as one that is not there', async () => {
  const { id, issue, people } = await crewOf(forge)
  const url = await issue({ confidential: true })
  for (const address of [url, `/projects/${id}/issues/999`]) {
    expect((await people.guest.get(`${address}/notes`)).body).toEqual({ message: '404 Notes Not Found' })
    expect((await people.guest.get(`${address}/notes/1`)).body).toEqual({ message: '404 Note Not Found' })
    expect((await people.guest.post(`${address}/notes`, { body: 'x' })).body).toEqual({ message: '404 Note Not Found' })
    expect((await people.guest.get(`${address}/discussions`)).body).toEqual({ message: '404 Discussions Not Found' })
  }
})

test('non-members cannot comment on a locked issue, and nobody can in an archived project', async () => {
  const { id, issue, owner, people } = await crewOf(forge, { visibility: 'public' })
  const url = await issue()
  const stranger = await forge.user()
  const { body: own } = await stranger.post(`${url}/notes`, { body: 'Mine' })
  await owner.put(url, { discussion_locked: true })
  expect((await stranger.post(`${url}/notes`, { body: 'x' })).status).toBe(403)
  expect((await stranger.put(`${url}/notes/${own.id}`, { body: 'x' })).status).toBe(403)
  expect((await stranger.delete(`${url}/notes/${own.id}`)).status).toBe(403)
  expect((await people.guest.post(`${url}/notes`, { body: 'x' })).status).toBe(201)
  await owner.post(`/projects/${id}/archive`)
  expect((await people.guest.post(`${url}/notes`, { body: 'x' })).status).toBe(403)
  expect((await forge.visitor.get(`${url}/notes`)).status).toBe(200)
})

test('what a deleted user said is the heir’s, or goes with them', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  await people.guest.post(`${url}/notes`, { body: 'stays' })
  await people.reporter.post(`${url}/notes`, { body: 'goes' })
  await people.reporter.put(url, { title: 'Renamed' })
  await forge.administrator.delete(`/users/${people.guest.id}`)
  await forge.administrator.delete(`/users/${people.reporter.id}`, { hard_delete: true })
  await forge.settle()
  const list = (await owner.get(`${url}/notes`, { activity_filter: 'only_comments' })).body
  expect(list).toMatchObject([{ body: 'stays', author: { username: 'ghost' } }])
  expect((await owner.get(url)).body.user_notes_count).toBe(1)
})

test('a longer list asks the store no more', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  const speakers = [owner, ...Object.values(people)]
  const say = async (count: number) => {
    for (let n = 0; n < count; n++) await speakers[n % speakers.length]!.post(`${url}/notes`, { body: `${n}` })
  }
  for (const list of ['notes', 'discussions']) {
    const count = async () => {
      await owner.get(`${url}/${list}`)
      return forge.queries(() => owner.get(`${url}/${list}`))
    }
    await say(2)
    const few = await count()
    await say(10)
    expect(await count()).toBe(few)
  }
})
