import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

async function begin(forge: TestForge) {
  const [jane, joe] = [await forge.user(), await forge.user()]
  const project = await forge.project({ visibility: 'public' }, jane)
  await forge.seed(project, { 'a.txt': 'one\ntwo\n' })
  await forge.seed(project, { 'a.txt': 'one\n2\n' }, { branch: 'feature' })
  const path = `/projects/${project.id}/merge_requests`
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Change a', reviewer_ids: [joe.id] }
  const { body } = await jane.post(path, input)
  const position = { ...body.diff_refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', new_line: 2 }
  return { jane, joe, project, id: body.id as number, url: `${path}/1`, drafts: `${path}/1/draft_notes`, position }
}

test('only their author sees drafts, until they are published at once', async () => {
  await using forge = await startForge()
  const { jane, joe, id, url, drafts, position } = await begin(forge)
  const thread = (await jane.post(`${url}/discussions`, { body: 'A question' })).body
  const first = await joe.post(drafts, { note: 'On a line', position })
  expect(first).toMatchObject({
    status: 201,
    body: {
      author_id: joe.id,
      merge_request_id: id,
      note: 'On a line',
      resolve_discussion: false,
      discussion_id: null,
      commit_id: null,
      position: { new_line: 2 },
    },
  })
  const answer = { note: 'An answer', in_reply_to_discussion_id: thread.id, resolve_discussion: true }
  const second = (await joe.post(drafts, answer)).body
  expect(second).toMatchObject({ discussion_id: thread.id, resolve_discussion: true, position: null })
  await joe.post(drafts, { note: 'In all' })

  expect((await joe.get(drafts)).body).toHaveLength(3)
  expect((await jane.get(drafts)).body).toEqual([])
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await jane.request(method, `${drafts}/${second.id}`)).status).toBe(404)
  expect((await jane.put(`${drafts}/${second.id}/publish`)).status).toBe(404)
  expect((await joe.put(`${drafts}/${second.id}`, { note: 'Another answer' })).body.note).toBe('Another answer')
  expect((await jane.get(`${url}/discussions`)).body).toHaveLength(1)

  expect((await joe.post(`${drafts}/bulk_publish`)).status).toBe(204)
  expect((await joe.get(drafts)).body).toEqual([])
  const discussions = (await jane.get(`${url}/discussions`)).body
  expect(discussions).toMatchObject([
    {
      notes: [
        { body: 'A question', resolved: false },
        { body: 'Another answer', author: { id: joe.id } },
      ],
    },
    { individual_note: false, notes: [{ body: 'On a line', type: 'DiffNote', position: { new_line: 2 } }] },
    { individual_note: true, notes: [{ body: 'In all', type: null }] },
  ])
  const reviewer = await forge.app.db.selectFrom('merge_request_reviewers').selectAll().executeTakeFirstOrThrow()
  expect(reviewer).toMatchObject({ user_id: joe.id, state: 'reviewed' })
})

test('a reply resolves the thread for users who can resolve it', async () => {
  await using forge = await startForge()
  const { jane, joe, url, drafts } = await begin(forge)
  const thread = (await joe.post(`${url}/discussions`, { body: 'A question' })).body
  const answer = { note: 'Done', in_reply_to_discussion_id: thread.id, resolve_discussion: true }
  const { id } = (await jane.post(drafts, answer)).body
  expect((await jane.put(`${drafts}/${id}/publish`)).status).toBe(204)
  expect((await jane.get(`${url}/discussions/${thread.id}`)).body.notes).toMatchObject([
    { resolved: true, resolved_by: { id: jane.id } },
    { body: 'Done', resolved: true },
  ])
})

test('a draft on a line is published where the line is by then', async () => {
  await using forge = await startForge()
  const { jane, project, url, drafts, position } = await begin(forge)
  const { id } = (await jane.post(drafts, { note: 'x', position })).body
  await forge.seed(project, { 'a.txt': 'zero\none\n2\n' }, { branch: 'feature' })
  await jane.put(`${drafts}/${id}/publish`)
  const [{ notes }] = (await jane.get(`${url}/discussions`)).body.filter(
    (one: { individual_note: boolean }) => !one.individual_note,
  )
  expect(notes[0]).toMatchObject({ position: { new_line: 3 }, original_position: { new_line: 2 } })
})

test.each([
  ['a blank one', { note: ' ' }, 400],
  ['an answer to nothing', { note: 'x', in_reply_to_discussion_id: 'f'.repeat(40) }, 404],
  ['none', {}, 400],
])('%s is refused, and nothing is kept', async (_name, input, status) => {
  await using forge = await startForge()
  const { jane, drafts } = await begin(forge)
  expect((await jane.post(drafts, input)).status).toBe(status)
  expect((await jane.get(drafts)).body).toEqual([])
})

test('one that cannot be said keeps all the others back', async () => {
  await using forge = await startForge()
  const { jane, joe, url, drafts } = await begin(forge)
  await joe.post(drafts, { note: 'One' })
  const thread = (await jane.post(`${url}/discussions`, { body: 'Long' })).body
  await joe.post(drafts, { note: 'Two', in_reply_to_discussion_id: thread.id })
  const [row] = await forge.app.db.selectFrom('notes').selectAll().where('discussion_id', '=', thread.id).execute()
  const { id: _id, ...note } = row!
  const full = Array.from({ length: 499 }, () => note)
  for (let n = 0; n < full.length; n += 20)
    await forge.app.db
      .insertInto('notes')
      .values(full.slice(n, n + 20))
      .execute()
  expect((await joe.post(`${drafts}/bulk_publish`)).status).toBe(400)
  expect((await joe.get(drafts)).body).toHaveLength(2)
  expect((await jane.get(`${url}/discussions`)).body).toHaveLength(1)
})
