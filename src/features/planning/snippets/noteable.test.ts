import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

const bodies = (list: { body: string }[]) => list.map(({ body }) => body)

async function snippetOf(
  input: Record<string, unknown> = {},
  visibility: 'private' | 'internal' | 'public' = 'private',
) {
  const crew = await crewOf(forge, input)
  const snippet = await forge.snippet(crew, { visibility }, crew.people.reporter)
  return { ...crew, snippet, url: `/projects/${crew.id}/snippets/${snippet.id}` }
}

test('a snippet is talked about and reacted to', async () => {
  const { id, url, snippet, people, owner } = await snippetOf()
  forge.clock.advance(60_000)
  const first = await people.guest.post(`${url}/notes`, { body: 'Sharp\n/close' })
  expect(first).toMatchObject({
    status: 201,
    body: {
      body: 'Sharp\n/close',
      noteable_id: snippet.id,
      noteable_type: 'Snippet',
      noteable_iid: null,
      project_id: id,
      commit_id: null,
    },
  })
  expect((await people.guest.get(url)).body.updated_at > snippet.updated_at).toBe(true)
  const [discussion] = (await people.guest.get(`${url}/discussions`)).body
  const answer = await people.master.post(`${url}/discussions/${discussion.id}/notes`, { body: 'Indeed' })
  expect(answer).toMatchObject({ status: 201, body: { type: 'DiscussionNote', noteable_type: 'Snippet' } })
  expect(bodies((await owner.get(`${url}/notes`, { sort: 'asc' })).body)).toEqual(['Sharp\n/close', 'Indeed'])

  const award = await people.guest.post(`${url}/award_emoji`, { name: '+1' })
  expect(award.body).toMatchObject({ name: 'thumbsup', awardable_type: 'Snippet', awardable_id: snippet.id })
  expect((await people.guest.post(`${url}/award_emoji`, { name: 'thumbsup' })).status).toBe(404)
  const onNote = await owner.post(`${url}/notes/${first.body.id}/award_emoji`, { name: 'tada' })
  expect(onNote.body).toMatchObject({ awardable_type: 'Note', awardable_id: first.body.id })

  await owner.delete(url)
  const left = await forge.app.db.selectFrom('notes').select('id').where('project_id', '=', id).execute()
  expect(left).toEqual([])
})

test('nothing said of a snippet is internal, and none is said where it is archived', async () => {
  const { id, url, people, owner } = await snippetOf()
  const refused = await people.master.post(`${url}/notes`, { body: 'x', internal: true })
  expect(refused).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Note {:confidential=>["can not be set for this resource"]}' },
  })
  await owner.post(`/projects/${id}/archive`)
  expect((await people.master.post(`${url}/notes`, { body: 'x' })).status).toBe(403)
  expect((await people.master.post(`${url}/award_emoji`, { name: 'tada' })).status).toBe(403)
  expect((await people.master.get(`${url}/notes`)).body).toEqual([])
})

test('a snippet of another project, or one that is hidden, is told as one that is not there', async () => {
  const { id, url } = await snippetOf({ visibility: 'public' })
  const other = await snippetOf()
  const stranger = await forge.user()
  for (const [address, by] of [
    [url, stranger],
    [`/projects/${id}/snippets/${other.snippet.id}`, other.owner],
    [`/projects/${id}/snippets/999999`, stranger],
  ] as const) {
    expect((await by.get(`${address}/notes`)).body).toEqual({ message: '404 Notes Not Found' })
    expect((await by.post(`${address}/notes`, { body: 'x' })).body).toEqual({ message: '404 Note Not Found' })
    expect((await by.get(`${address}/award_emoji`)).body).toEqual({ message: '404 Award Emoji Not Found' })
  }
})

test('what is said of a snippet is told where the snippet is seen', async () => {
  const { id, url, snippet, people, owner } = await snippetOf({ visibility: 'public' })
  const [stranger, external] = [await forge.user(), await forge.user({ external: true })]
  await people.guest.post(`${url}/notes`, { body: 'A sharp blade' })
  await forge.settle()
  const notesFor = async (by: Client) => {
    const events = (await by.get(`/projects/${id}/events`, { action: 'commented' })).body
    return events.map(({ target_title }: { target_title: string }) => target_title)
  }
  const found = async (by: Client) =>
    bodies((await by.get(`/projects/${id}/search`, { scope: 'notes', search: 'blade' })).body)
  const [event] = (await owner.get(`/projects/${id}/events`, { action: 'commented' })).body
  expect(event).toMatchObject({
    action_name: 'commented on',
    target_type: 'Note',
    target_title: snippet.title,
    note: { noteable_type: 'Snippet', noteable_id: snippet.id, noteable_iid: null },
  })
  const readers = { guest: people.guest, stranger, external, visitor: forge.visitor }
  for (const [visibility, seen] of [
    ['private', { guest: 1, stranger: 0, external: 0, visitor: 0 }],
    ['internal', { guest: 1, stranger: 1, external: 0, visitor: 0 }],
    ['public', { guest: 1, stranger: 1, external: 1, visitor: 1 }],
  ] as const) {
    await owner.put(url, { visibility })
    for (const [name, by] of Object.entries(readers)) {
      const times = seen[name as keyof typeof seen]
      expect(await notesFor(by), `${name}, ${visibility}`).toHaveLength(times)
    }
    // Anonymous users cannot search.
    const { visitor: _nobody, ...searching } = readers
    for (const [name, by] of Object.entries(searching))
      expect(await found(by), `${name}, ${visibility}`).toHaveLength(seen[name as keyof typeof seen])
  }
  await owner.put(`/projects/${id}`, { snippets_enabled: false })
  expect(await notesFor(owner)).toEqual([])
  expect(await found(owner)).toEqual([])
})

test('a note on a snippet names issues and people; nothing waits for them', async () => {
  const { id, url, snippet, issue, people, owner } = await snippetOf({ visibility: 'public' })
  const named = await issue()
  const body = `For #1 and @${people.guest.username}`
  const { body: note } = await people.reporter.post(`${url}/notes`, { body })
  await people.reporter.put(`${url}/notes/${note.id}`, { body: `${body}, again #1` })
  await people.reporter.post(`${url}/notes`, { body: 'And #1' })
  await forge.settle()
  const notes = async (by: Client) => bodies((await by.get(`${named}/notes`)).body)
  expect(await notes(owner)).toEqual([`mentioned in snippet $${snippet.id}`])
  expect(await notes(forge.visitor)).toEqual([])
  await owner.put(url, { visibility: 'public' })
  expect(await notes(forge.visitor)).toEqual([`mentioned in snippet $${snippet.id}`])
  const mentions = await forge.app.db
    .selectFrom('text_mentions')
    .select(['user_id', 'source_snippet_id'])
    .where('source_project_id', '=', id)
    .execute()
  expect(mentions).toEqual([{ user_id: people.guest.id, source_snippet_id: snippet.id }])
  expect((await people.guest.get('/todos')).body).toEqual([])
})

test('texts name snippets for those who see them', async () => {
  const { path, snippet, people } = await snippetOf({ visibility: 'public' })
  const stranger = await forge.user()
  const html = async (by: Client) =>
    (await by.post('/markdown', { text: `See $${snippet.id}`, gfm: true, project: path })).body.html
  expect(await html(people.guest)).toContain(`href="${snippet.web_url}"`)
  expect(await html(stranger)).not.toContain('href')
})

test('reactions of a deleted user are the heir’s, once each', async () => {
  const { url, owner } = await snippetOf({ visibility: 'public' }, 'public')
  const [jane, joe, ann] = [await forge.user(), await forge.user(), await forge.user()]
  for (const by of [jane, joe, ann]) await by.post(`${url}/award_emoji`, { name: 'tada' })
  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.administrator.delete(`/users/${joe.id}`)
  await forge.settle()
  const names = async () =>
    (await owner.get(`${url}/award_emoji`)).body.map(({ user }: { user: { username: string } }) => user.username)
  expect(await names()).toEqual(['ghost', ann.username])
  await forge.administrator.delete(`/users/${ann.id}`, { hard_delete: true })
  await forge.settle()
  expect(await names()).toEqual(['ghost'])
})
