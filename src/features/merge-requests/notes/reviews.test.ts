import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let owner: Person
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
})
afterAll(async () => forge.close())

interface Message {
  body: string
  system: boolean
}
const bodiesOf = async (who: Person, url: string): Promise<string[]> =>
  (await who.get(`${url}/notes`, { sort: 'asc' })).body
    .filter(({ system }: Message) => !system)
    .map(({ body }: Message) => body)

const reviewerOf = async (merge_request_id: number, { id }: Person) => {
  const reviewers = forge.app.db.selectFrom('merge_request_reviewers').select('state')
  const own = reviewers.where('merge_request_id', '=', merge_request_id).where('user_id', '=', id)
  return (await own.executeTakeFirstOrThrow()).state
}

test('a review is submitted by a command, with a verdict', async () => {
  const { propose, member } = await openProposals(forge, owner)
  const [jane, joe] = [await member(30), await member(30)]
  const one = await propose('Saws', { reviewer_ids: [jane.id, joe.id] })
  for (const note of ['First', 'Second']) await jane.post(`${one.url}/draft_notes`, { note })
  await joe.post(`${one.url}/draft_notes`, { note: "Joe's" })
  const wrong = await jane.post(`${one.url}/notes`, { body: '/submit_review perhaps' })
  expect(wrong.body).toMatchObject({ commands_changes: {} })
  expect(await bodiesOf(owner, one.url)).toEqual([])
  const done = await jane.post(`${one.url}/notes`, { body: '/submit_review' })
  expect(done).toMatchObject({ status: 202, body: { summary: ['Submitted the current review.'] } })
  expect(await bodiesOf(owner, one.url)).toEqual(['First', 'Second'])
  expect((await jane.get(`${one.url}/draft_notes`)).body).toEqual([])
  expect((await joe.get(`${one.url}/draft_notes`)).body).toHaveLength(1)
  expect(await reviewerOf(one.id, jane)).toBe('reviewed')

  await joe.post(`${one.url}/notes`, { body: 'So:\n/submit_review requested_changes' })
  expect(await bodiesOf(owner, one.url)).toEqual(['First', 'Second', 'So:', "Joe's"])
  expect(await reviewerOf(one.id, joe)).toBe('requested_changes')
  expect((await owner.get(one.url)).body.detailed_merge_status).toBe('requested_changes')
  await joe.post(`${one.url}/notes`, { body: '/submit_review approve' })
  expect((await owner.get(`${one.url}/approvals`)).body.approved_by).toMatchObject([{ user: { id: joe.id } }])
  expect(await reviewerOf(one.id, joe)).toBe('approved')
  // The quick action does not allow self-approval either, and drafts stay.
  await owner.post(`${one.url}/draft_notes`, { note: 'Mine' })
  await owner.post(`${one.url}/notes`, { body: '/submit_review approve' })
  expect((await owner.get(`${one.url}/approvals`)).body.approved_by).toHaveLength(1)
})

test('what is internal is for Reporters, also what follows from it', async () => {
  const { project, propose, member } = await openProposals(forge, owner, { visibility: 'public' })
  const [reporter, guest, author] = [await member(20), await member(10), await forge.user()]
  const one = await propose('Planes', {})
  const places = [
    one.url,
    `${one.url}/notes`,
    `${one.url}/discussions`,
    `${one.url}/participants`,
    `/projects/${project.id}/events`,
    '/todos',
    `/projects/${project.id}/search?scope=notes&search=secret`,
  ]
  const shown = async (who: Person) => {
    await forge.settle()
    const all: unknown[] = []
    for (const place of places) {
      const { status, body, headers } = await who.get(place)
      const known = Array.isArray(body) ? body : { ...body, updated_at: '', user_notes_count: 0 }
      all.push([place, status, headers.get('x-total'), known])
    }
    return all
  }
  const before = [await shown(guest), await shown(author)]
  for (const who of [guest, author]) {
    expect((await who.post(`${one.url}/notes`, { body: 'x', internal: true })).status).toBe(403)
    expect((await who.post(`${one.url}/discussions`, { body: 'x', confidential: true })).status).toBe(403)
  }
  const names = `secret @${guest.username} @${author.username} @${reporter.username}`
  const note = await reporter.post(`${one.url}/notes`, { body: names, internal: true })
  expect(note).toMatchObject({ status: 201, body: { internal: true, confidential: true } })
  const { diff_refs } = (await owner.get(one.url)).body
  const file = (await owner.get(`${one.url}/changes`)).body.changes[0].new_path
  const position = { ...diff_refs, position_type: 'text', new_path: file, old_path: file, new_line: 1 }
  const thread = await reporter.post(`${one.url}/discussions`, {
    body: 'secret\n```suggestion\nx\n```',
    confidential: true,
    position,
  })
  expect(thread.body.notes[0]).toMatchObject({ internal: true, type: 'DiffNote' })
  const answer = await owner.post(`${one.url}/discussions/${thread.body.id}/notes`, { body: 'secret too' })
  expect(answer.body).toMatchObject({ internal: true })
  expect([await shown(guest), await shown(author)]).toEqual(before)
  expect(await bodiesOf(reporter, one.url)).toHaveLength(3)
  for (const who of [guest, author]) {
    const { id } = thread.body.notes[0].suggestions[0]
    expect((await who.put(`/suggestions/${id}/apply`)).status).toBe(404)
    expect((await who.put('/suggestions/batch_apply', { ids: [id] })).status).toBe(404)
    expect((await who.get(`${one.url}/notes/${note.body.id}`)).status).toBe(404)
    expect((await who.get(`${one.url}/notes/${note.body.id}/award_emoji`)).status).toBe(404)
    const answered = await who.post(`${one.url}/discussions/${thread.body.id}/notes`, { body: 'x' })
    expect(answered.status).toBe(404)
  }

  // The line is removed. The thread gets a note, visible only to those who see the thread.
  const path = `/projects/${project.id}/repository/files/${encodeURIComponent(file)}`
  const edit = { branch: one.source_branch, content: 'other\n', commit_message: 'Other' }
  expect((await owner.put(path, edit)).status).toBe(200)
  const lastNote = (await owner.get(`${one.url}/discussions/${thread.body.id}`)).body.notes.at(-1)
  expect(lastNote).toMatchObject({ system: true, internal: true })
  expect((await guest.get(`${one.url}/discussions/${thread.body.id}`)).status).toBe(404)
  // An internal note is not quoted in an issue.
  const made = await owner.post(`/projects/${project.id}/issues`, {
    title: 'Go on',
    merge_request_to_resolve_discussions_of: one.iid,
  })
  expect(JSON.stringify(made.body)).not.toContain('secret')
  const snippet = await owner.post(`/projects/${project.id}/repository/commits/master/discussions`, {
    body: 'x',
    internal: true,
  })
  expect(snippet.status).toBe(400)
})

test('a thread is about a commit, and stays there', async () => {
  const { project, propose } = await openProposals(forge, owner)
  const one = await propose('Drills')
  const sha = (await owner.get(one.url)).body.sha
  const commit = (await owner.get(`/projects/${project.id}/repository/commits/${sha}`)).body
  const [base] = commit.parent_ids
  const file = (await owner.get(`${one.url}/changes`)).body.changes[0].new_path
  const position = {
    base_sha: base,
    start_sha: base,
    head_sha: sha,
    position_type: 'text',
    new_path: file,
    old_path: file,
    new_line: 1,
  }
  const url = `${one.url}/discussions`
  const made = await owner.post(url, { body: 'Here', commit_id: sha, position })
  expect(made).toMatchObject({ status: 201, body: { notes: [{ commit_id: sha, type: 'DiffNote', position }] } })
  const reply = await owner.post(`${url}/${made.body.id}/notes`, { body: 'Yes' })
  expect(reply.body).toMatchObject({ commit_id: sha, noteable_type: 'MergeRequest' })
  const plain = await owner.post(url, { body: 'All of it', commit_id: sha.slice(0, 10) })
  expect(plain.body.notes[0]).toMatchObject({ commit_id: sha, type: 'DiscussionNote' })
  const draft = await owner.post(`${one.url}/draft_notes`, { note: 'Later', commit_id: sha, position })
  expect(draft.body).toMatchObject({ commit_id: sha })
  await owner.post(`${one.url}/draft_notes/bulk_publish`)
  expect((await owner.get(url)).body.at(-1).notes[0]).toMatchObject({ body: 'Later', commit_id: sha, position })

  const before = (await owner.get(url)).body
  for (const [input, status] of [
    [{ commit_id: base }, 404],
    [{ commit_id: '0'.repeat(40) }, 404],
    [{ commit_id: '--all' }, 404],
    [{ commit_id: sha, position: { ...position, head_sha: base } }, 400],
    [{ commit_id: sha, position: { ...position, base_sha: sha } }, 400],
    [{ commit_id: sha, position: { ...position, new_line: 99 } }, 400],
  ] as const)
    expect([input, (await owner.post(url, { body: 'x', ...input })).status]).toEqual([input, status])
  expect((await owner.get(url)).body).toEqual(before)
  expect((await owner.post(`${one.url}/draft_notes`, { note: 'x', commit_id: base })).status).toBe(404)

  // The thread is not among the discussions of the commit itself, and does not move.
  expect((await owner.get(`/projects/${project.id}/repository/commits/${sha}/discussions`)).body).toEqual([])
  const edit = { branch: one.source_branch, content: 'other\n', commit_message: 'Other' }
  await owner.put(`/projects/${project.id}/repository/files/${encodeURIComponent(file)}`, edit)
  const after = (await owner.get(`${url}/${made.body.id}`)).body
  expect(after.notes).toMatchObject([{ position }, { position }])
})

test('those whom rules name have it waiting for their approval', async () => {
  const { project, propose, member } = await openProposals(forge, owner)
  const [jane, joe, jim, reporter] = [await member(30), await member(30), await member(40), await member(20)]
  const waiting = async (who: Person) => {
    await forge.settle()
    const { body } = await who.get('/todos', { action: 'approval_required' })
    return body.map(({ body: text }: { body: string }) => text)
  }
  const rules = `/projects/${project.id}/approval_rules`
  await owner.post(rules, { name: 'a', approvals_required: 1, user_ids: [jane.id, jim.id, owner.id, reporter.id] })
  await owner.post(rules, { name: 'b', approvals_required: 0, user_ids: [joe.id] })
  const one = await propose('Awls', {})
  expect(await waiting(jane)).toEqual(['Awls'])
  expect(await waiting(jim)).toEqual(['Awls'])
  for (const who of [joe, owner, reporter]) expect(await waiting(who)).toEqual([])
  await jane.post(`${one.url}/approve`)
  expect(await waiting(jane)).toEqual([])

  const made = await owner.post(`${one.url}/approval_rules`, { name: 'c', approvals_required: 0, user_ids: [joe.id] })
  expect(await waiting(joe)).toEqual([])
  const rule = `${one.url}/approval_rules/${made.body.id}`
  await owner.put(rule, { approvals_required: 1 })
  expect(await waiting(joe)).toEqual(['Awls'])
  await joe.post('/todos/mark_as_done')
  await owner.put(rule, { name: 'd', user_ids: [joe.id, jane.id] })
  expect([await waiting(joe), await waiting(jane)]).toEqual([[], ['Awls']])
})
