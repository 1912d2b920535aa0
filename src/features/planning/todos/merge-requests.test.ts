import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { costOf } from '../../../../test/sources.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let owner: Person
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
})
afterAll(async () => forge.close())

async function waiting(who: Person, query: Record<string, unknown> = {}): Promise<string[]> {
  await forge.settle()
  const { status, body, headers } = await who.get('/todos', query)
  expect(status).toBe(200)
  expect(headers.get('x-total')).toBe(String(body.length))
  return body.map(({ action_name, body }: { action_name: string; body: string }) => `${action_name}: ${body}`)
}

test('assignees and reviewers have a to-do item until it is done', async () => {
  const { project, propose, member } = await openProposals(forge, owner)
  const [jane, joe] = [await member(30), await member(20)]
  const one = await propose('Saws', { assignee_ids: [jane.id], reviewer_ids: [joe.id] })
  await forge.settle()
  expect((await jane.get('/todos', { type: 'MergeRequest' })).body).toEqual([
    expect.objectContaining({
      project: expect.objectContaining({ id: project.id }),
      author: expect.objectContaining({ id: owner.id }),
      action_name: 'assigned',
      target_type: 'MergeRequest',
      target: expect.objectContaining({ id: one.id, iid: one.iid, source_branch: one.source_branch }),
      target_url: one.web_url,
      body: 'Saws',
      state: 'pending',
    }),
  ])
  expect(await waiting(jane, { type: 'Issue' })).toEqual([])
  expect(await waiting(joe)).toEqual(['review_requested: Saws'])
  expect((await joe.get('/user_counts')).body).toMatchObject({ todos: 1 })

  await jane.put(one.url, { labels: 'bug' })
  expect(await waiting(jane)).toEqual([])
  expect(await waiting(jane, { state: 'done' })).toEqual(['assigned: Saws'])
  expect(await waiting(joe)).toEqual(['review_requested: Saws'])
  await owner.put(one.url, { reviewer_ids: [joe.id, jane.id] })
  expect(await waiting(jane)).toEqual(['review_requested: Saws'])
  await jane.put(one.url, { state_event: 'close' })
  expect(await waiting(jane)).toEqual([])
  await owner.delete(one.url)
  expect(await waiting(joe)).toEqual([])
})

test('a mentioned user with access gets one to-do item while it is pending', async () => {
  const { propose, member } = await openProposals(forge, owner)
  const [jane, joe, jim, guest] = [await member(30), await member(20), await member(20), await member(10)]
  const stranger = await forge.user()
  const description = `@${jane.username} look\n\nas @${joe.username}, @${guest.username} and @${stranger.username} said`
  const one = await propose('Named', { description })
  expect(await waiting(jane)).toEqual(['directly_addressed: Named'])
  expect(await waiting(joe)).toEqual(['mentioned: Named'])
  for (const nobody of [guest, stranger]) expect(await waiting(nobody)).toEqual([])

  await joe.post('/todos/mark_as_done', {})
  await owner.put(one.url, { description: `${description} again` })
  expect(await waiting(joe)).toEqual([])
  await owner.put(one.url, { title: `Named @${joe.username} @${jim.username}` })
  expect(await waiting(joe)).toEqual([])
  expect(await waiting(jim)).toEqual([`mentioned: Named @${joe.username} @${jim.username}`])
})

test('one reminds oneself once; pushing and merging see to it', async () => {
  const { propose, member, push } = await openProposals(forge, owner)
  const jane = await member(40)
  const one = await propose('Marked')
  expect(await jane.post(`${one.url}/todo`)).toMatchObject({ status: 201, body: { action_name: 'marked' } })
  expect((await jane.post(`${one.url}/todo`)).status).toBe(304)
  await push(one.source_branch, jane)
  expect(await waiting(jane)).toEqual([])
  expect((await jane.post(`${one.url}/todo`)).status).toBe(201)
  expect((await jane.put(`${one.url}/merge`)).status).toBe(200)
  expect(await waiting(jane)).toEqual([])
  expect(await waiting(jane, { state: 'done' })).toEqual(['marked: Marked', 'marked: Marked'])
})

test('what fails or cannot be merged waits for those who wait for it', async () => {
  const { at, propose, member } = await openProposals(forge, owner)
  const jane = await member(40)
  const one = await propose('Built')
  const tell = (state: string) => owner.post(`${at}/statuses/${one.sha}`, { state, ref: one.source_branch })
  await tell('running')
  expect((await jane.put(`${one.url}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
  await tell('failed')
  for (const who of [jane, owner])
    expect(await waiting(who, { action: 'build_failed' })).toEqual(['build_failed: Built'])

  await jane.post('/todos/mark_as_done', {})
  await forge.seed({ id: one.project_id } as never, { [`${one.source_branch}.txt`]: 'other\n' }, { as: owner })
  expect(await waiting(jane)).toEqual(['unmergeable: Built'])
})

test('one that is seen no more waits no more; what is theirs a guest still sees', async () => {
  const { at, propose, member } = await openProposals(forge, owner)
  const jane = await member(20)
  const one = await propose('Kept', { assignee_ids: [jane.id] })
  const other = await propose('Hidden')
  await jane.post(`${other.url}/todo`)
  expect(await waiting(jane)).toEqual(['marked: Hidden', 'assigned: Kept'])
  await owner.put(`${at}/members/${jane.id}`, { access_level: 10 })
  expect(await waiting(jane)).toEqual(['assigned: Kept'])
  expect((await jane.get('/user_counts')).body).toMatchObject({ todos: 1, assigned_merge_requests: 1 })
  await owner.put(at, { merge_requests_access_level: 'disabled' })
  expect(await waiting(jane)).toEqual([])
  expect((await owner.get(one.url)).status).not.toBe(200)
})

test('a page costs the same, however many wait', async () => {
  const { propose, member } = await openProposals(forge, owner)
  const jane = await member(30)
  for (const title of ['One', 'Two']) await propose(title, { assignee_ids: [jane.id] })
  await forge.settle()
  const ask = () => jane.get('/todos')
  await ask()
  const few = await costOf(forge, ask)
  for (const title of ['Three', 'Four']) await propose(title, { assignee_ids: [jane.id] })
  await forge.settle()
  expect(await costOf(forge, ask)).toBe(few)
})
