import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

test('a discussion begins, is answered, changed and told in order', async () => {
  const { issue, people } = await crewOf(forge)
  const url = `${await issue()}/discussions`
  const begun = await people.guest.post(url, { body: 'Why?' })
  expect(begun).toMatchObject({
    status: 201,
    body: { id: expect.stringMatching(/^[0-9a-f]{40}$/), individual_note: false, notes: [{ type: 'DiscussionNote' }] },
  })
  const { id } = begun.body
  const answer = await people.reporter.post(`${url}/${id}/notes`, { body: 'Because' })
  expect(answer).toMatchObject({ status: 201, body: { type: 'DiscussionNote', body: 'Because' } })
  await people.reporter.post(url, { body: 'Another' })
  expect((await people.guest.get(`${url}/${id}`)).body.notes).toEqual([begun.body.notes[0], answer.body])
  expect((await people.guest.get(url)).body).toMatchObject([
    { id, notes: [{ body: 'Why?' }, { body: 'Because' }] },
    { notes: [{ body: 'Another' }] },
  ])
  const note = `${url}/${id}/notes/${answer.body.id}`
  expect((await people.reporter.put(note, { body: 'Hence' })).body).toMatchObject({ body: 'Hence' })
  expect((await people.guest.get(note)).body).toMatchObject({ body: 'Hence' })
  expect((await people.reporter.delete(note)).status).toBe(204)
  expect((await people.guest.get(`${url}/${id}`)).body.notes).toHaveLength(1)
  const page = await people.guest.get(url, { per_page: 1, page: 2 })
  expect(page.body).toMatchObject([{ notes: [{ body: 'Another' }] }])
  expect(page.headers.get('x-total')).toBe('2')
})

test('an answer makes a thread of a note that stood alone', async () => {
  const { issue, people } = await crewOf(forge)
  const url = await issue()
  await people.guest.post(`${url}/notes`, { body: 'Alone' })
  const [alone] = (await people.guest.get(`${url}/discussions`)).body
  expect(alone).toMatchObject({ individual_note: true, notes: [{ type: null }] })
  await people.guest.post(`${url}/discussions/${alone.id}/notes`, { body: 'Not any more' })
  expect((await people.guest.get(`${url}/discussions`)).body).toMatchObject([
    { id: alone.id, individual_note: false, notes: [{ type: 'DiscussionNote' }, { type: 'DiscussionNote' }] },
  ])
})

test.each([
  ['guest', 'POST', '', {}, 400, { error: 'body is missing' }],
  ['guest', 'POST', '/nothing/notes', { body: 'x' }, 404, { message: '404 Discussion Not Found' }],
  ['guest', 'GET', '/nothing', undefined, 404, { message: '404 Discussion Not Found' }],
  ['guest', 'PUT', '/DISCUSSION/notes/NOTE', { body: 'x' }, 403, { message: '403 Forbidden' }],
  ['guest', 'DELETE', '/DISCUSSION/notes/NOTE', undefined, 403, { message: '403 Forbidden' }],
  [
    'master',
    'PUT',
    '/DISCUSSION/notes/NOTE',
    {},
    400,
    { error: 'body, resolved are missing, exactly one parameter must be provided' },
  ],
  [
    'master',
    'PUT',
    '/DISCUSSION/notes/NOTE',
    { body: 'x', resolved: true },
    400,
    { error: 'body, resolved are mutually exclusive' },
  ],
  [
    'master',
    'PUT',
    '/DISCUSSION/notes/NOTE',
    { resolved: true },
    400,
    { message: 'Notes on an issue are not resolvable' },
  ],
] as const)('%s: %s discussions%s with %o is refused', async (role, method, path, input, status, body) => {
  const { issue, owner, people } = await crewOf(forge)
  const url = `${await issue()}/discussions`
  const { body: begun } = await owner.post(url, { body: 'Stays' })
  const address = url + path.replace('DISCUSSION', begun.id).replace('NOTE', begun.notes[0].id)
  expect(await people[role].request(method, address, input)).toMatchObject({ status, body })
  expect((await owner.get(url)).body).toEqual([begun])
})

async function committed() {
  const crew = await crewOf(forge, { visibility: 'public' })
  await fillProject(
    forge,
    crew.id,
    { files: { 'a.txt': 'one\ntwo\nthree\n' } },
    { files: { 'a.txt': 'zero\none\nthree\nfour\n' } },
  )
  const url = `/projects/${crew.id}/repository/commits/master`
  const { body } = await crew.owner.get(url)
  const [base] = body.parent_ids
  const ends = { base_sha: base, start_sha: base, head_sha: body.id, position_type: 'text' }
  return { ...crew, url, sha: body.id as string, base: base as string, ends }
}

test.each([
  ['an added line', { new_path: 'a.txt', new_line: 1 }, { path: 'a.txt', line: 1, line_type: 'new' }],
  ['a removed line', { old_path: 'a.txt', old_line: 2 }, { path: 'a.txt', line: 2, line_type: 'old' }],
  [
    'a line that stayed',
    { old_path: 'a.txt', new_path: 'a.txt', old_line: 1, new_line: 2 },
    { path: 'a.txt', line: 2, line_type: 'new' },
  ],
])('a discussion of %s of a commit', async (_what, place, comment) => {
  const { url, sha, base, ends, people } = await committed()
  const answer = await people.reporter.post(`${url}/discussions`, { body: 'Here', position: { ...ends, ...place } })
  expect(answer.status).toBe(201)
  const { notes } = answer.body
  expect(notes).toMatchObject([{ type: 'DiffNote', noteable_type: 'Commit', noteable_id: null, commit_id: sha }])
  expect(notes[0].position).toEqual({
    base_sha: base,
    start_sha: base,
    head_sha: sha,
    position_type: 'text',
    old_path: 'a.txt',
    new_path: 'a.txt',
    old_line: null,
    new_line: null,
    line_range: null,
    ...place,
  })
  // Notes and comments share one table: the note is a comment, too.
  expect((await people.guest.get(`${url}/comments`)).body).toMatchObject([{ note: 'Here', ...comment }])
})

test.each([
  ['one number of a line that stayed', { new_path: 'a.txt', new_line: 2 }],
  ['no line', { new_path: 'a.txt' }],
  ['another file', { new_path: 'b.txt', new_line: 1 }],
])('a discussion of %s of a commit is refused', async (_what, place) => {
  const { url, ends, people } = await committed()
  const answer = await people.reporter.post(`${url}/discussions`, { body: 'Here', position: { ...ends, ...place } })
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('line_code') } })
  expect((await people.guest.get(`${url}/comments`)).body).toEqual([])
})

test('comments on a commit are discussions of it, and answers stand where the first one does', async () => {
  const { url, people } = await committed()
  await people.guest.post(`${url}/comments`, { note: 'In general' })
  await people.guest.post(`${url}/comments`, { note: 'There', path: 'a.txt', line: 4, line_type: 'new' })
  const [general, there] = (await forge.visitor.get(`${url}/discussions`)).body
  expect(general).toMatchObject({ individual_note: true, notes: [{ body: 'In general', type: null }] })
  expect(there).toMatchObject({ individual_note: false, notes: [{ body: 'There', type: 'DiffNote' }] })
  const answer = await people.developer.post(`${url}/discussions/${there.id}/notes`, { body: 'Yes' })
  expect(answer.body).toMatchObject({ type: 'DiffNote', position: there.notes[0].position })
})

test('a page is given what it shows: rendered texts, and reactions', async () => {
  const { issue, people } = await crewOf(forge)
  const url = await issue()
  await people.master.put(url, { description: '- [ ] *a*' })
  const { body: note } = await people.guest.post(`${url}/notes`, { body: '**Why?**' })
  await people.reporter.post(`${url}/notes/${note.id}/award_emoji`, { name: 'tada' })
  const asked = { render_html: true }
  const { body: shown } = await people.guest.get(`${url}/discussions`, asked)
  expect(shown.flatMap((one: { notes: object[] }) => one.notes)).toContainEqual({
    ...note,
    commands_changes: {},
    body_html: '<p><strong>Why?</strong></p>\n',
    award_emoji: [expect.objectContaining({ name: 'tada', awardable_type: 'Note', awardable_id: note.id })],
  })
  expect((await people.guest.get(url, asked)).body.description_html).toContain('<em>a</em>')
  expect((await people.guest.get(url)).body).not.toHaveProperty('description_html')
})
