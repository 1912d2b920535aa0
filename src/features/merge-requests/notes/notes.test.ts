import { expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function requestOf(forge: TestForge, jane: Person, more: Record<string, unknown> = {}) {
  const project = await forge.project({ name: 'tools', ...more }, jane)
  await forge.seed(project, { 'a.txt': 'one\ntwo\nthree\n' })
  await forge.seed(project, { 'a.txt': 'one\n2\nthree\n', 'b.txt': 'new\n' }, { branch: 'feature' })
  const path = `/projects/${project.id}/merge_requests`
  const { body } = await jane.post(path, { source_branch: 'feature', target_branch: 'master', title: 'Change a' })
  return { project, url: `${path}/1`, refs: body.diff_refs, id: body.id as number }
}

test('notes are written, changed and deleted, and counted', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { project, url, id } = await requestOf(forge, jane)
  const made = await jane.post(`${url}/notes`, { body: 'Good' })
  expect(made).toMatchObject({
    status: 201,
    body: {
      type: null,
      body: 'Good',
      noteable_type: 'MergeRequest',
      noteable_id: id,
      noteable_iid: 1,
      project_id: project.id,
      resolvable: false,
    },
  })
  expect(made.body).not.toHaveProperty('resolved')
  expect((await jane.get(url)).body.user_notes_count).toBe(1)
  expect((await jane.put(`${url}/notes/${made.body.id}`, { body: 'Better' })).body.body).toBe('Better')
  expect(await jane.post(`${url}/notes`, { body: ' ' })).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Note {:note=>["can\'t be blank"]}' },
  })
  expect((await jane.delete(`${url}/notes/${made.body.id}`)).status).toBe(204)
  expect((await jane.get(url)).body.user_notes_count).toBe(0)
  expect((await jane.get(`${url}/notes`)).body).toEqual([])
})

test('lines of its diff are discussed, of any version', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { project, url, refs } = await requestOf(forge, jane)
  const position = { ...refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', new_line: 2 }
  const made = await jane.post(`${url}/discussions`, { body: 'Why?', position })
  expect(made).toMatchObject({
    status: 201,
    body: {
      individual_note: false,
      notes: [{ type: 'DiffNote', resolvable: true, resolved: false, resolved_by: null, resolved_at: null }],
    },
  })
  expect(made.body.notes[0].position).toEqual({ ...position, old_line: null, line_range: null })
  expect(made.body.notes[0].original_position).toEqual(made.body.notes[0].position)
  await forge.seed(project, { 'c.txt': 'c\n' }, { branch: 'feature' })
  expect((await jane.get(url)).body.diff_refs.head_sha).not.toBe(refs.head_sha)
  const removed = { ...position, new_line: undefined, old_line: 2 }
  expect((await jane.post(`${url}/discussions`, { body: 'Old', position: removed })).status).toBe(201)
  const answer = await jane.post(`${url}/discussions/${made.body.id}/notes`, { body: 'Because' })
  expect(answer).toMatchObject({ status: 201, body: { type: 'DiffNote', resolvable: true } })
  expect(answer.body.position.new_line).toBe(2)
})

test.each([
  ['a line that is not in the diff', { new_line: 40 }],
  ['a file that is not in the diff', { new_path: 'x.txt', old_path: 'x.txt' }],
  ['a head that is no version', { head_sha: 'f'.repeat(40) }],
  ['a base that is not the version’s', { base_sha: 'f'.repeat(40) }],
  ['a head that is an option of git', { head_sha: '--output=/tmp/x' }],
])('a note on %s is refused, and nothing is kept', async (_name, wrong) => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { url, refs } = await requestOf(forge, jane)
  const position = { ...refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', new_line: 2, ...wrong }
  expect(await jane.post(`${url}/discussions`, { body: 'x', position })).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}' },
  })
  expect((await jane.get(`${url}/discussions`)).body).toEqual([])
})

test('threads are resolved, whole and note by note, and open what they barred', async () => {
  await using forge = await startForge()
  const [jane, joe] = [await forge.user(), await forge.user()]
  const rule = { only_allow_merge_if_all_discussions_are_resolved: true, visibility: 'public' }
  const { url } = await requestOf(forge, jane, rule)
  const first = (await joe.post(`${url}/discussions`, { body: 'One' })).body
  const second = (await joe.post(`${url}/discussions`, { body: 'Two' })).body
  await joe.post(`${url}/notes`, { body: 'Alone' })
  expect((await jane.get(url)).body).toMatchObject({
    blocking_discussions_resolved: false,
    detailed_merge_status: 'discussions_not_resolved',
  })
  expect((await jane.put(`${url}/merge`)).status).toBe(405)

  // Joe may not resolve the whole thread, but may resolve his own note.
  expect((await joe.put(`${url}/discussions/${first.id}`, { resolved: true })).status).toBe(403)
  const note = `${url}/discussions/${first.id}/notes/${first.notes[0].id}`
  expect(await joe.put(note, { resolved: true })).toMatchObject({
    status: 200,
    body: { resolved: true, resolved_by: { id: joe.id } },
  })
  expect((await joe.put(note, { resolved: true, body: 'x' })).status).toBe(400)
  expect((await jane.put(note, { resolved: false })).body).toMatchObject({ resolved: false, resolved_by: null })

  for (const { id } of [first, second]) {
    const done = await jane.put(`${url}/discussions/${id}`, { resolved: true })
    expect(done).toMatchObject({ status: 200, body: { notes: [{ resolved: true, resolved_by: { id: jane.id } }] } })
  }
  const systemNotes = async () => (await jane.get(`${url}/notes`, { activity_filter: 'only_activity' })).body
  expect((await systemNotes()).map(({ body }: { body: string }) => body)).toEqual(['resolved all discussions'])
  // A second time adds no note, and a reply leaves the thread resolved.
  await jane.put(`${url}/discussions/${first.id}`, { resolved: true })
  expect(await systemNotes()).toHaveLength(1)
  expect((await joe.post(`${url}/discussions/${first.id}/notes`, { body: 'Thanks' })).body.resolved).toBe(true)
  expect((await jane.get(url)).body.blocking_discussions_resolved).toBe(true)
  expect((await jane.put(`${url}/merge`)).status).toBe(200)
})

test('a note that stands alone is not resolvable until it is answered', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { url } = await requestOf(forge, jane)
  await jane.post(`${url}/notes`, { body: 'Alone' })
  const [{ id, notes, individual_note }] = (await jane.get(`${url}/discussions`)).body
  expect(individual_note).toBe(true)
  expect(await jane.put(`${url}/discussions/${id}`, { resolved: true })).toMatchObject({
    status: 400,
    body: { message: 'This discussion is not resolvable' },
  })
  expect((await jane.put(`${url}/discussions/${id}/notes/${notes[0].id}`, { resolved: true })).status).toBe(400)
  await jane.post(`${url}/discussions/${id}/notes`, { body: 'No more' })
  expect((await jane.put(`${url}/discussions/${id}`, { resolved: true })).body.notes).toMatchObject([
    { resolved: true },
    { resolved: true },
  ])
})

test('reactions to it and to its notes', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { url, id } = await requestOf(forge, jane)
  expect(await jane.post(`${url}/award_emoji`, { name: '+1' })).toMatchObject({
    status: 201,
    body: { name: 'thumbsup', awardable_type: 'MergeRequest', awardable_id: id },
  })
  expect((await jane.post(`${url}/award_emoji`, { name: 'thumbsup' })).status).toBe(404)
  await jane.post(`${url}/award_emoji`, { name: 'thumbsdown' })
  expect((await jane.get(url)).body).toMatchObject({ upvotes: 1, downvotes: 1 })
  const note = (await jane.post(`${url}/notes`, { body: 'x' })).body
  expect(await jane.post(`${url}/notes/${note.id}/award_emoji`, { name: 'tada' })).toMatchObject({
    status: 201,
    body: { awardable_type: 'Note' },
  })
  const [given] = (await jane.get(`${url}/award_emoji`)).body
  expect((await jane.delete(`${url}/award_emoji/${given.id}`)).status).toBe(204)
  expect((await jane.get(url)).body).toMatchObject({ upvotes: 0, downvotes: 1 })
})

test('what happened to it', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { project, url, id } = await requestOf(forge, jane)
  const milestone = (await jane.post(`/projects/${project.id}/milestones`, { title: 'v1' })).body
  await jane.put(url, { labels: 'bug', milestone_id: milestone.id })
  await jane.put(url, { state_event: 'close' })
  const common = { resource_type: 'MergeRequest', resource_id: id, user: { id: jane.id } }
  const expected = {
    label: { label: { name: 'bug' } },
    milestone: { milestone: { title: 'v1' } },
    state: { state: 'closed' },
  }
  for (const [kind, fields] of Object.entries(expected)) {
    const { body } = await jane.get(`${url}/resource_${kind}_events`)
    expect(body).toMatchObject([{ ...common, ...fields }])
    expect((await jane.get(`${url}/resource_${kind}_events/${body[0].id}`)).body).toEqual(body[0])
  }
})

test('lists of notes and discussions send as many queries for many as for few', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { url } = await requestOf(forge, jane)
  const add = () => jane.post(`${url}/discussions`, { body: 'x' })
  await add()
  for (const path of [`${url}/notes`, `${url}/discussions`]) {
    await jane.get(path)
    const few = await forge.queries(() => jane.get(path))
    for (let n = 0; n < 5; n++) await add()
    expect(await forge.queries(() => jane.get(path))).toBe(few)
  }
})

test('an issue goes on with what was discussed', async () => {
  await using forge = await startForge()
  const [jane, joe] = [await forge.user(), await forge.user()]
  const { project, url } = await requestOf(forge, jane, { visibility: 'public' })
  const first = (await joe.post(`${url}/discussions`, { body: 'One\n/close' })).body
  const second = (await joe.post(`${url}/discussions`, { body: 'Two' })).body
  const issues = `/projects/${project.id}/issues`
  const input = { title: 'Later', merge_request_to_resolve_discussions_of: 1 }

  // Joe may not resolve threads: the issue is created all the same.
  expect((await joe.post(issues, input)).body.description).toBeNull()
  expect((await jane.get(`${url}/discussions/${first.id}`)).body.notes).toMatchObject([{ resolved: false }])

  const one = (await jane.post(issues, { ...input, discussion_to_resolve: second.id })).body
  expect(one.description).toMatch(
    /^The following discussion from !1 should be addressed:\n\n- \[ \] @\w+ started .*\n\n {4}> Two$/,
  )
  const rest = (await jane.post(issues, { ...input, description: 'My words' })).body
  expect(rest).toMatchObject({ description: 'My words', state: 'opened' })
  for (const [{ id }, { iid }] of [
    [second, one],
    [first, rest],
  ])
    expect((await jane.get(`${url}/discussions/${id}`)).body.notes).toMatchObject([
      { resolved: true, resolved_by: { id: jane.id } },
      { system: true, body: `created #${iid} to continue this discussion` },
    ])
})
