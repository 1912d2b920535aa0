import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

interface Happening {
  /** The issue before the quick action. */
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
  const hidden = '<!-- say\n/confidential\n-->\n <!-- /lock -->'
  const kept = await owner.post(`${url}/notes`, { body: hidden })
  expect([kept.status, kept.body.body]).toEqual([201, hidden])
  expect((await owner.get(url)).body).toMatchObject({ confidential: false, discussion_locked: null })
  const answer = await owner.post(`${url}/notes`, { body: ' That is it.\r\n/close\n```\n/reopen\n```\n/shrug ' })
  expect(answer).toMatchObject({
    status: 201,
    body: { body: 'That is it.\n```\n/reopen\n```\n¯\\_(ツ)_/¯', commands_changes: { state_event: 'close' } },
  })
  expect((await owner.get(url)).body.state).toBe('closed')
  // Editing a note runs no quick actions.
  const changed = await owner.put(`${url}/notes/${answer.body.id}`, { body: 'Or not\n/reopen' })
  expect(changed.body.body).toBe('Or not\n/reopen')
  expect((await owner.get(url)).body.state).toBe('closed')
})

test('commands of one text are carried out as those before them leave it, or do nothing', async () => {
  const { id, issue, owner, people } = await crewOf(forge)
  await issue({ title: 'The first', labels: 'bug,old' })
  const source = await issue({ labels: 'old' })
  const url = await issue()
  const say = async (body: string) => (await owner.post(`${url}/notes`, { body })).body
  const spent = async () => (await owner.get(url)).body.time_stats.total_time_spent
  expect(await say('/spend 2h\n/spend -1h')).toMatchObject({
    summary: ['Added 2h spent time.', 'Subtracted 1h spent time.'],
  })
  expect(await spent()).toBe(3600)
  const answer = await say('one is too much\n/spend -1h\n/spend -1h')
  expect([answer.body, answer.summary ?? answer.commands_changes]).toEqual(['one is too much', anything])
  expect(await spent()).toBe(0)
  const bodies = (await owner.get(`${url}/notes`)).body.map(({ body }: { body: string }) => body)
  expect(bodies).toContain('subtracted 1h of time spent')

  const { iid } = (await owner.get(source)).body
  const copied = await say(`/label ~bug\n/copy_metadata #${iid}`)
  expect(copied.commands_changes.add_label_ids).toHaveLength(2)
  expect((await owner.get(url)).body.labels).toEqual(['bug', 'old'])

  expect((await say('/relate #1')).summary).toEqual(['Marked this issue as related to #1.'])
  expect((await say('/relate #1')).summary).toEqual([])
  const { body: elsewhere } = await (await forge.user()).post('/projects', { name: 'Open', visibility: 'public' })
  expect(await say(`/move ${elsewhere.path_with_namespace}`)).toMatchObject({ summary: [], commands_changes: {} })
  expect((await owner.get(url)).body).toMatchObject({ project_id: id, state: 'opened' })

  await owner.put(url, { confidential: true })
  const guest = (await people.guest.get('/user')).body
  expect((await say(`/assign @${guest.username}`)).summary).toEqual([])
  expect((await owner.get(url)).body.assignees).toEqual([])
})

test('quick actions without permission stay text or do nothing', async () => {
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
  // The assignee already has a to-do item.
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
  const answer = await owner.post(`${url}/notes`, { body: `Over there, like #1\n/move ${there.path}` })
  expect(answer).toMatchObject({ status: 201, body: { commands_changes: { target_project_id: there.id } } })
  expect((await owner.get(url)).body).toMatchObject({ state: 'closed', moved_to_id: anything })
  const [moved] = (await owner.get(`/projects/${there.id}/issues`)).body
  const notes = (await owner.get(`/projects/${there.id}/issues/${moved.iid}/notes`, { sort: 'asc' })).body
  expect(notes).toMatchObject([{ body: `Over there, like ${here.path}#1` }, { body: `moved from ${here.path}#1` }])
  // Without access to the target project nothing happens.
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

test('how bad an incident is, is said by a word', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const [plain, incident] = [await issue(), await issue({ issue_type: 'incident' })]
  const say = (url: string, body: string, by = people.reporter) => by.post(`${url}/notes`, { body })
  const answer = await say(incident, '/severity S2')
  expect(answer).toMatchObject({
    status: 202,
    body: { commands_changes: { severity: 'high' }, summary: ['Set the severity to High - S2.'] },
  })
  expect((await owner.get(incident)).body.severity).toBe('HIGH')
  const [note] = (await owner.get(`${incident}/notes`)).body
  expect(note.body).toBe('set the severity to **High - S2**')
  await say(incident, '/severity critical')
  for (const nothing of ['/severity S5', '/severity bad', '/severity'])
    expect((await say(incident, nothing)).body.summary).toEqual([])
  expect((await owner.get(incident)).body.severity).toBe('CRITICAL')
  await say(plain, '/severity S1')
  expect((await owner.get(plain)).body.severity).toBe('UNKNOWN')
})

test('a branch is begun from an issue by who may push, and told of', async () => {
  const { id, path, issue, owner, people } = await crewOf(forge)
  await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })
  const url = await issue({ title: 'The mill, jäms! (again)' })
  const say = (body: string, by = people.developer) => by.post(`${url}/notes`, { body })
  const branches = async () =>
    (await owner.get(`/projects/${id}/repository/branches`)).body.map(({ name }: { name: string }) => name)
  expect((await say('/create_merge_request', people.reporter)).body.summary).toEqual([])
  expect(await branches()).toEqual(['master'])
  expect(await say('/create_merge_request')).toMatchObject({
    status: 202,
    body: {
      commands_changes: { create_merge_request: { branch_name: '1-the-mill-ja-ms-again', issue_iid: 1 } },
      summary: ["Created branch '1-the-mill-ja-ms-again' to resolve this issue."],
    },
  })
  expect(await branches()).toEqual(['1-the-mill-ja-ms-again', 'master'])
  const [note] = (await owner.get(`${url}/notes`)).body
  const link = `${forge.url}/${path}/-/compare/master...1-the-mill-ja-ms-again`
  expect(note).toMatchObject({ system: true, body: `created branch [\`1-the-mill-ja-ms-again\`](${link})` })
  // An existing or invalid branch is not created.
  for (const name of ['', ' master', ' a..b']) {
    const again = await say(`/create_merge_request${name}`)
    expect(again).toMatchObject({ status: 202, body: { commands_changes: {}, summary: [] } })
  }
  await say('Begun\n/create_merge_request mill')
  expect(await branches()).toEqual(['1-the-mill-ja-ms-again', 'master', 'mill'])
  await owner.put(url, { confidential: true })
  await say('/create_merge_request secret')
  expect(await branches()).not.toContain('secret')
})

test('a commit is tagged by a word on it', async () => {
  const { id, owner, people } = await crewOf(forge)
  const { id: sha } = await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })
  const url = `/projects/${id}/repository/commits/${sha}`
  const tags = async () =>
    (await owner.get(`/projects/${id}/repository/tags`, { sort: 'asc', order_by: 'name' })).body.map(
      ({ name, message, commit }: { name: string; message: string; commit: { id: string } }) => [
        name,
        message,
        commit.id === sha,
      ],
    )
  // For users without permission it stays text, and so do actions that commits do not have.
  const text = await people.reporter.post(`${url}/discussions`, { body: '/tag v0' })
  expect(text).toMatchObject({ status: 201, body: { notes: [{ body: '/tag v0' }] } })
  expect((await people.developer.post(`${url}/comments`, { note: '/close' })).body.note).toBe('/close')
  expect(await tags()).toEqual([])
  expect(await people.developer.post(`${url}/discussions`, { body: '/tag v1 The first' })).toMatchObject({
    status: 202,
    body: {
      commands_changes: { tag_name: 'v1', tag_message: 'The first' },
      summary: ['Tagged this commit to v1 with "The first".'],
    },
  })
  expect((await people.developer.post(`${url}/comments`, { note: '/tag v2' })).status).toBe(202)
  const answer = await people.developer.post(`${url}/comments`, { note: 'Again\n/tag v2' })
  expect(answer).toMatchObject({ status: 201, body: { note: 'Again' } })
  expect(await people.developer.post(`${url}/comments`, { note: '/tag v2' })).toMatchObject({
    status: 202,
    body: { commands_changes: {}, summary: [] },
  })
  expect(await tags()).toEqual([
    ['v1', 'The first', true],
    ['v2', null, true],
  ])
})
