import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

interface Happening {
  /** Before it. */
  input?: Record<string, unknown>
  say: string
  changes: Record<string, unknown>
  summary: string[]
  issue: Record<string, unknown>
  note?: string
}

const anything = expect.anything()
const DEVELOPER = '@DEVELOPER'

test.each<Happening>([
  { say: '/close', changes: { state_event: 'close' }, summary: ['Closed this issue.'], issue: { state: 'closed' } },
  { say: '/reopen', changes: {}, summary: [], issue: { state: 'opened' } },
  {
    say: '/title  Better ',
    changes: { title: 'Better' },
    summary: ['Changed the title to "Better".'],
    issue: { title: 'Better' },
    note: 'changed title from **{-An issue-}** to **{+Better+}**',
  },
  {
    say: `/assign ${DEVELOPER}`,
    changes: { assignee_ids: [anything] },
    summary: [`Assigned ${DEVELOPER}.`],
    issue: { assignees: [anything] },
  },
  {
    say: '/milestone %v1',
    changes: { milestone_id: anything },
    summary: ['Set the milestone to %"v1".'],
    issue: { milestone: expect.objectContaining({ title: 'v1' }) },
  },
  {
    input: { labels: 'old' },
    say: '/label ~bug ~"two words" ~unknown\n/unlabel ~old',
    changes: { add_label_ids: [anything, anything], remove_label_ids: [anything] },
    summary: ['Added ~bug ~"two words" labels.', 'Removed ~old label.'],
    issue: { labels: ['bug', 'two words'] },
  },
  {
    input: { labels: 'old' },
    say: '/relabel ~bug',
    changes: { label_ids: [anything] },
    summary: ['Replaced all labels with ~bug label.'],
    issue: { labels: ['bug'] },
  },
  {
    input: { labels: 'old,bug' },
    say: '/unlabel',
    changes: { label_ids: [] },
    summary: ['Removed all labels.'],
    issue: { labels: [] },
  },
  { say: '/label ~unknown', changes: {}, summary: [], issue: { labels: [] } },
  {
    say: '/due 2031-12-31',
    changes: { due_date: '2031-12-31' },
    summary: ['Set the due date to 2031-12-31.'],
    issue: { due_date: '2031-12-31' },
  },
  { say: '/due nonsense', changes: {}, summary: [], issue: { due_date: null } },
  {
    input: { due_date: '2031-12-31' },
    say: '/remove_due_date',
    changes: { due_date: null },
    summary: ['Removed the due date.'],
    issue: { due_date: null },
  },
  {
    say: '/estimate 1d 2h\n/spend 1h',
    changes: { time_estimate: 36_000, spend_time: { duration: 3600, user_id: anything } },
    summary: ['Set time estimate to 1d 2h.', 'Added 1h spent time.'],
    issue: { time_stats: expect.objectContaining({ time_estimate: 36_000, total_time_spent: 3600 }) },
    note: 'added 1h of time spent',
  },
  {
    say: '/spend -1h',
    changes: {},
    summary: [],
    issue: { time_stats: expect.objectContaining({ total_time_spent: 0 }) },
  },
  {
    say: '/award :+1:',
    changes: { emoji_award: 'thumbsup' },
    summary: ['Toggled :thumbsup: emoji award.'],
    issue: { upvotes: 1 },
  },
  {
    say: '/confidential\n/lock',
    changes: { confidential: true, discussion_locked: true },
    summary: ['Made this issue confidential.', 'Locked the discussion.'],
    issue: { confidential: true, discussion_locked: true },
  },
  { say: '/weight 4', changes: { weight: 4 }, summary: ['Set weight to 4.'], issue: { weight: 4 } },
  {
    say: '/duplicate #1',
    changes: { canonical_issue_id: anything },
    summary: ['Closed this issue. Marked as a duplicate of #1.'],
    issue: { state: 'closed', _links: expect.objectContaining({ closed_as_duplicate_of: expect.any(String) }) },
    note: 'marked this issue as a duplicate of #1',
  },
  {
    say: '/relate #1',
    changes: { relate: [anything] },
    summary: ['Marked this issue as related to #1.'],
    issue: {},
    note: 'marked this issue as related to #1',
  },
  {
    say: '/unsubscribe',
    changes: { subscription_event: 'unsubscribe' },
    summary: ['Unsubscribed from this issue.'],
    issue: { subscribed: false },
  },
])('a Reporter says $say', async ({ input, say, changes, summary, issue: becomes, note }) => {
  const { id, issue, owner, people } = await crewOf(forge)
  await issue({ title: 'The first', labels: 'bug,two words,old' })
  await owner.post(`/projects/${id}/milestones`, { title: 'v1' })
  const url = await issue(input, people.reporter)
  if (input) await owner.put(url, input)
  const { body: developer } = await people.developer.get('/user')
  const named = (text: string) => text.replaceAll(DEVELOPER, `@${developer.username}`)
  const answer = await people.reporter.post(`${url}/notes`, { body: named(say) })
  expect(answer).toMatchObject({ status: 202, body: { commands_changes: changes, summary: summary.map(named) } })
  expect(Object.keys(answer.body.commands_changes).toSorted()).toEqual(Object.keys(changes).toSorted())
  expect((await people.reporter.get(url)).body).toMatchObject({ ...becomes, user_notes_count: 0 })
  const notes = (await owner.get(`${url}/notes`)).body.map(({ body }: { body: string }) => body)
  expect(notes).toEqual(expect.arrayContaining(note ? [note] : []))
})

test('commands are cut out of what is said, and what comes of them is told with it', async () => {
  const { issue, owner } = await crewOf(forge)
  const url = await issue()
  const said = await owner.post(`${url}/notes`, { body: ' That is it.\r\n/close\n```\n/reopen\n```\n/shrug ' })
  expect(said).toMatchObject({
    status: 201,
    body: { body: 'That is it.\n```\n/reopen\n```\n¯\\_(ツ)_/¯', commands_changes: { state_event: 'close' } },
  })
  expect((await owner.get(url)).body.state).toBe('closed')
  // Changing a note orders nothing.
  const changed = await owner.put(`${url}/notes/${said.body.id}`, { body: 'Or not\n/reopen' })
  expect(changed.body.body).toBe('Or not\n/reopen')
  expect((await owner.get(url)).body.state).toBe('closed')
})

test('whoever may not change the issue writes text, and who may not plan it orders in vain', async () => {
  const { issue, people } = await crewOf(forge)
  const others = await issue()
  expect(await people.guest.post(`${others}/notes`, { body: '/close' })).toMatchObject({
    status: 201,
    body: { body: '/close' },
  })
  expect((await people.guest.get(others)).body.state).toBe('opened')
  const own = await issue({}, people.guest)
  const answer = await people.guest.post(`${own}/notes`, { body: '/due 2031-12-31\n/weight 3\n/lock\n/title Mine' })
  expect(answer).toMatchObject({ status: 202, body: { commands_changes: { title: 'Mine' } } })
  expect((await people.guest.get(own)).body).toMatchObject({
    title: 'Mine',
    due_date: null,
    weight: null,
    discussion_locked: null,
  })
})

test('a description orders at creation, not when it is changed', async () => {
  const { id, owner, people } = await crewOf(forge)
  const description = '\nWhat is wrong\r\n/assign me\n/label ~bug\n/todo\n'
  await owner.post(`/projects/${id}/labels`, { name: 'bug', color: '#ff0000' })
  const { body } = await people.reporter.post(`/projects/${id}/issues`, { title: 'An issue', description })
  expect(body).toMatchObject({
    description: 'What is wrong',
    labels: ['bug'],
    assignees: [{ id: people.reporter.id }],
  })
  // Whom it is assigned to has it to do already.
  expect((await people.reporter.get('/todos')).body).toMatchObject([
    { action_name: 'assigned', target: { id: body.id } },
  ])
  await people.reporter.post(`/projects/${id}/issues/${body.iid}/notes`, { body: '/done' })
  expect((await people.reporter.get('/todos')).body).toEqual([])
  await people.reporter.post(`/projects/${id}/issues/${body.iid}/notes`, { body: '/todo' })
  expect((await people.reporter.get('/todos')).body).toMatchObject([{ action_name: 'marked', target: { id: body.id } }])
  const url = `/projects/${id}/issues/${body.iid}`
  const { body: changed } = await people.reporter.put(url, { description: 'Else\n/close\n' })
  expect(changed).toMatchObject({ description: 'Else\n/close\n', state: 'opened' })
})

test('an issue is moved by a word, with what was said along with it', async () => {
  const here = await crewOf(forge)
  const there = await crewOf(forge)
  const { owner } = here
  await there.owner.post(`/projects/${there.id}/members`, { user_id: owner.id, access_level: 20 })
  const url = await here.issue()
  const said = await owner.post(`${url}/notes`, { body: `Over there, like #1\n/move ${there.path}` })
  expect(said).toMatchObject({ status: 201, body: { commands_changes: { target_project_id: there.id } } })
  expect((await owner.get(url)).body).toMatchObject({ state: 'closed', moved_to_id: anything })
  const [moved] = (await owner.get(`/projects/${there.id}/issues`)).body
  const notes = (await owner.get(`/projects/${there.id}/issues/${moved.iid}/notes`, { sort: 'asc' })).body
  expect(notes).toMatchObject([{ body: `Over there, like ${here.path}#1` }, { body: `moved from ${here.path}#1` }])
  // Where one may not go, nothing happens.
  const again = await here.issue()
  await here.people.reporter.post(`${again}/notes`, { body: `/move ${there.path}` })
  expect((await owner.get(again)).body).toMatchObject({ state: 'opened', moved_to_id: null })
})

test('a column of the board is chosen by a word', async () => {
  const { id, issue, owner, people } = await crewOf(forge)
  const labels = await Promise.all(
    ['todo', 'doing'].map(
      async (name) => (await owner.post(`/projects/${id}/labels`, { name, color: '#fff000' })).body,
    ),
  )
  const [board] = (await owner.get(`/projects/${id}/boards`)).body
  for (const { id: label_id } of labels) await owner.post(`/projects/${id}/boards/${board.id}/lists`, { label_id })
  const url = await issue({ labels: 'todo,other' })
  await people.reporter.post(`${url}/notes`, { body: '/board_move ~doing' })
  expect((await owner.get(url)).body.labels).toEqual(['doing', 'other'])
})
