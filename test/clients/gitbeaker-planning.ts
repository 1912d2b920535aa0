/** Drives a running Mortise with gitbeaker: issues and other planning records. */
import { expect } from 'vitest'
import { until } from '../start/command.ts'
import { refusal, type World } from './gitbeaker-tree.ts'

export interface Plan {
  readonly id: number
  readonly group: number
}

const iidsOf = (issues: { iid: number }[]) => issues.map(({ iid }) => iid)
const namesOf = (things: { name: string }[]) => things.map(({ name }) => name)
const titlesOf = (things: { title: string }[]) => things.map(({ title }) => title)

/** A public project of a public group in which jane is a developer. */
export async function makeProject({ api, jane }: World): Promise<Plan> {
  const { id: group } = await api.Groups.create('Gb Works', 'gb-works', { visibility: 'public' })
  await api.GroupMembers.add(group, 30, { userId: jane.id })
  const { id } = await api.Projects.create({ name: 'Gb Mill', namespaceId: group, visibility: 'public' })
  return { id, group }
}

export async function changeLabels({ api, john }: World, { id, group }: Plan): Promise<void> {
  for (const [labels, place] of [
    [api.ProjectLabels, id],
    [api.GroupLabels, group],
  ] as const) {
    const name = place === id ? 'bug' : 'later'
    const made = await labels.create(place, name, 'red', { description: 'It fails' })
    expect(made).toMatchObject({ name, color: '#FF0000', text_color: '#FFFFFF', description: 'It fails' })
    expect(made).toMatchObject({ subscribed: false, ...(place === id && { is_project_label: true, priority: null }) })
    expect(await labels.edit(place, made.id, { color: '#ccc' })).toMatchObject({ id: made.id, color: '#cccccc' })
    expect(await labels.edit(place, name, { newName: `${name} 2` })).toMatchObject({ id: made.id, name: `${name} 2` })
    expect(await labels.show(place, `${name} 2`)).toMatchObject({ id: made.id })
    await labels.edit(place, made.id, { newName: name })
    await expect(labels.create(place, name, 'red')).rejects.toMatchObject(refusal(409, 'Label already exists'))
    await expect(labels.create(place, 'a,b', 'red')).rejects.toMatchObject(refusal(400, 'is invalid'))
    await expect(labels.show(place, 'none')).rejects.toMatchObject(refusal(404, '404 Label Not Found'))
  }
  await api.ProjectLabels.create(id, 'old', '#000', { priority: 1 })
  expect(namesOf(await api.ProjectLabels.all(id, { perPage: 1 }))).toEqual(['bug', 'later', 'old'])
  expect(await api.ProjectLabels.all(id, { search: 'bu', withCounts: true })).toMatchObject([
    { name: 'bug', open_issues_count: 0, closed_issues_count: 0, open_merge_requests_count: 0 },
  ])
  expect(await api.ProjectLabels.promote(id, 'old')).toMatchObject({ name: 'old' })
  expect(namesOf(await api.GroupLabels.all(group))).toEqual(['later', 'old'])
  await api.GroupLabels.remove(group, 'old')
  await expect(john.api.ProjectLabels.remove(id, 'bug')).rejects.toMatchObject(refusal(403, '403 Forbidden'))
}

/** Returns the milestone that remains. */
export async function changeMilestones({ api }: World, { id, group }: Plan): Promise<number> {
  for (const [milestones, place] of [
    [api.ProjectMilestones, id],
    [api.GroupMilestones, group],
  ] as const) {
    const title = place === id ? 'v1' : 'autumn'
    const dates = { startDate: '2030-01-01', dueDate: '2030-02-01' }
    const made = await milestones.create(place, title, { description: 'First', ...dates })
    expect(made).toMatchObject({ title, state: 'active', start_date: '2030-01-01', due_date: '2030-02-01' })
    expect(made).toMatchObject({ [place === id ? 'project_id' : 'group_id']: place, iid: 1, expired: false })
    expect(await milestones.edit(place, made.id, { stateEvent: 'close' })).toMatchObject({ state: 'closed' })
    expect(titlesOf(await milestones.all(place, { state: 'closed' }))).toEqual([title])
    expect(await milestones.edit(place, made.id, { stateEvent: 'activate' })).toMatchObject({ state: 'active' })
    expect(await milestones.show(place, made.id)).toMatchObject({ id: made.id, description: 'First' })
    expect(titlesOf(await milestones.all(place, { title, iids: [1] }))).toEqual([title])
    expect(await milestones.all(place, { search: 'nothing' })).toEqual([])
    expect(await milestones.allAssignedMergeRequests(place, made.id)).toEqual([])
    const taken = 'already being used for another group or project milestone.'
    await expect(milestones.create(place, title)).rejects.toMatchObject(refusal(400, taken))
  }
  const every = await api.ProjectMilestones.all(id, { includeParentMilestones: true })
  expect(titlesOf(every).toSorted()).toEqual(['autumn', 'v1'])
  const spare = await api.ProjectMilestones.create(id, 'spare')
  await api.ProjectMilestones.promote(id, spare.id)
  const promoted = (await api.GroupMilestones.all(group, { title: 'spare' }))[0]!
  await api.GroupMilestones.remove(group, promoted.id)
  await expect(api.GroupMilestones.show(group, promoted.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
  return (await api.ProjectMilestones.all(id, { title: 'v1' }))[0]!.id
}

/** Leaves issues 1, which has everything, and 2. */
export async function changeIssues({ api, jane, url }: World, { id, group }: Plan, milestone: number): Promise<void> {
  const { Issues } = api
  const text = 'Seen by @gb-jane\n\n- [ ] oil it\n- [x] look'
  const made = await Issues.create(id, 'It jams', {
    description: text,
    labels: 'bug,later',
    milestoneId: milestone,
    assigneeIds: [jane.id],
    dueDate: '2030-01-31',
  })
  expect(made).toMatchObject({
    iid: 1,
    project_id: id,
    title: 'It jams',
    description: text,
    state: 'opened',
    labels: ['bug', 'later'],
    milestone: { id: milestone, title: 'v1' },
    assignees: [{ id: jane.id }],
    assignee: { username: 'gb-jane' },
    author: { username: 'root' },
    due_date: '2030-01-31',
    confidential: false,
    subscribed: true,
    has_tasks: true,
    task_status: '1 of 2 tasks completed',
    task_completion_status: { count: 2, completed_count: 1 },
    references: { short: '#1', full: 'gb-works/gb-mill#1' },
    web_url: `${url}/gb-works/gb-mill/-/issues/1`,
    _links: { self: `${url}/api/v4/projects/${id}/issues/1` },
  })
  expect(await Issues.show(1, { projectId: 'gb-works/gb-mill' })).toEqual(made)
  expect(await Issues.show(made.id)).toMatchObject({ id: made.id })
  await jane.api.Issues.create(id, 'A secret', { confidential: true })
  const input = { title: 'It jams often', addLabels: 'urgent', removeLabels: 'later', discussionLocked: true }
  expect(await Issues.edit(id, 1, { ...input, dueDate: '', weight: 3 })).toMatchObject({
    title: 'It jams often',
    labels: ['bug', 'urgent'],
    discussion_locked: true,
    due_date: null,
  })
  await Issues.edit(id, 1, { discussionLocked: false })
  expect(await Issues.edit(id, 1, { stateEvent: 'close' })).toMatchObject({
    state: 'closed',
    closed_by: { username: 'root' },
    closed_at: expect.any(String),
  })
  expect(await Issues.edit(id, 1, { stateEvent: 'reopen' })).toMatchObject({ state: 'opened', closed_at: null })
  expect(await Issues.unsubscribe(id, 1)).toMatchObject({ subscribed: false })
  expect(await Issues.subscribe(id, 1)).toMatchObject({ subscribed: true })
  await expect(Issues.create(id, ' ')).rejects.toMatchObject(refusal(400, "can't be blank"))
  await expect(Issues.show(99, { projectId: id })).rejects.toMatchObject(refusal(404, '404 Not found'))

  const mine = { human_time_estimate: '1d 4h', time_estimate: 43_200 }
  expect(await Issues.addTimeEstimate(id, 1, '12h')).toMatchObject(mine)
  expect(await Issues.addSpentTime(id, 1, '30m', { summary: 'oiled' })).toMatchObject({ total_time_spent: 1800 })
  expect(await Issues.showTimeStats(id, 1)).toMatchObject({ ...mine, human_total_time_spent: '30m' })
  expect(await Issues.resetTimeEstimate(id, 1)).toMatchObject({ time_estimate: 0, human_time_estimate: null })
  expect(await Issues.resetSpentTime(id, 1)).toMatchObject({ total_time_spent: 0 })
  const people = (await Issues.allParticipants(id, 1)).map(({ username }) => username)
  expect(people.toSorted()).toEqual(['gb-jane', 'root'])
  expect(await Issues.allRelatedMergeRequests(id, 1)).toEqual([])
  expect(await Issues.allClosedByMergeRequestst(id, 1)).toEqual([])
  expect(iidsOf(await api.ProjectMilestones.allAssignedIssues(id, milestone))).toEqual([1])
  expect(await api.IssuesStatistics.all({ groupId: group })).toEqual({
    statistics: { counts: { all: 2, closed: 0, opened: 2 } },
  })
}

export async function findIssues({ api, jane, john }: World, { id, group }: Plan): Promise<void> {
  for (const [filter, expected] of [
    [{}, [2, 1]],
    [{ perPage: 1, sort: 'asc' }, [1, 2]],
    [{ labels: 'bug,urgent' }, [1]],
    [{ labels: 'None' }, [2]],
    [{ milestone: 'v1' }, [1]],
    [{ milestoneId: 'None' }, [2]],
    [{ not: { labels: 'bug' } }, [2]],
    [{ assigneeId: jane.id }, [1]],
    [{ assigneeUsername: ['gb-jane'] }, [1]],
    [{ authorUsername: 'gb-jane' }, [2]],
    [{ confidential: true }, [2]],
    [{ iids: [1, 7] }, [1]],
    [{ search: 'jams', in: 'title' }, [1]],
    [{ scope: 'created_by_me' }, [1]],
    [{ state: 'closed' }, []],
    [{ createdAfter: '2999-01-01T00:00:00Z' }, []],
    [{ orderBy: 'title', sort: 'asc' }, [2, 1]],
  ] as const) {
    const input = filter as object
    expect([filter, iidsOf(await api.Issues.all({ projectId: id, ...input }))]).toEqual([filter, expected])
    const everywhere = await api.Issues.all({ groupId: group, scope: 'all', ...input })
    expect([filter, iidsOf(everywhere)]).toEqual([filter, expected])
  }
  const [detailed] = await api.Issues.all({ projectId: id, labels: 'bug', withLabelsDetails: true })
  expect(detailed!.labels).toMatchObject([{ name: 'bug', color: '#cccccc' }, { name: 'urgent' }])
  expect(iidsOf(await api.Issues.all({ scope: 'all' }))).toEqual([2, 1])
  expect(iidsOf(await john.api.Issues.all({ projectId: id }))).toEqual([1])
  await expect(john.api.Issues.show(2, { projectId: id })).rejects.toMatchObject(refusal(404, '404 Not found'))
}

export async function linkIssues({ api }: World, { id }: Plan): Promise<void> {
  const made = await api.IssueLinks.create(id, 1, id, 2, { linkType: 'relates_to' })
  expect(made).toMatchObject({ source_issue: { iid: 1 }, target_issue: { iid: 2 }, link_type: 'relates_to' })
  await expect(api.IssueLinks.create(id, 1, id, 2)).rejects.toMatchObject(refusal(409, 'already assigned'))
  const [link] = await api.IssueLinks.all(id, 2)
  expect(link).toMatchObject({ iid: 1, link_type: 'relates_to', issue_link_id: expect.any(Number) })
  expect(await api.IssueLinks.remove(id, 2, link!.issue_link_id)).toMatchObject({ link_type: 'relates_to' })
  expect(await api.IssueLinks.all(id, 1)).toEqual([])
}

export async function moveIssues({ api }: World, { id, group }: Plan): Promise<void> {
  const { Issues } = api
  const { id: barn } = await api.Projects.create({ name: 'Gb Barn', namespaceId: group })
  const [first, second] = [await Issues.create(id, 'To move'), await Issues.create(id, 'To copy')]
  const moved = await Issues.move(id, first.iid, barn)
  expect(moved).toMatchObject({ project_id: barn, iid: 1, title: 'To move' })
  expect(await Issues.show(first.iid, { projectId: id })).toMatchObject({ state: 'closed', moved_to_id: moved.id })
  expect(await Issues.clone(id, second.iid, barn, { withNotes: true })).toMatchObject({ project_id: barn, iid: 2 })
  await Issues.reorder(id, second.iid, { moveAfterId: first.id })
  for (const { iid } of [first, second]) await Issues.remove(id, iid)
  await expect(Issues.remove(id, first.iid)).rejects.toMatchObject(refusal(404, '404 Issue Not Found'))
  await api.Projects.remove(barn)
}

export async function changeBoards({ api }: World, { id, group }: Plan): Promise<void> {
  const later = await api.GroupLabels.show(group, 'later')
  for (const [boards, place] of [
    [api.ProjectIssueBoards, id],
    [api.GroupIssueBoards, group],
  ] as const) {
    const board = await boards.create(place, 'Sprint')
    expect(board).toMatchObject({ name: 'Sprint', lists: [] })
    expect(await boards.edit(place, board.id, { name: 'Sprint 2' })).toMatchObject({ name: 'Sprint 2' })
    const list = await boards.createList(place, board.id, { labelId: later.id })
    expect(list).toMatchObject({ position: 0, label: { id: later.id, name: 'later' } })
    const other = await api.GroupLabels.create(group, `column ${place}`, '#111111')
    const second = await boards.createList(place, board.id, { labelId: other.id })
    expect(await boards.editList(place, board.id, second.id, 0)).toMatchObject({ id: second.id, position: 0 })
    const ids = (await boards.allLists(place, board.id)).map((one) => one.id)
    expect(ids).toEqual([second.id, list.id])
    expect((await boards.show(place, board.id)).lists!.map((one) => one.id)).toEqual(ids)
    await boards.removeList(place, board.id, second.id)
    expect(await boards.showList(place, board.id, list.id)).toMatchObject({ position: 0 })
    const created = boards.createList(place, board.id, { labelId: later.id })
    await expect(created).rejects.toMatchObject(refusal(400, 'has already been taken'))
    await boards.remove(place, board.id)
    await expect(boards.show(place, board.id)).rejects.toMatchObject(refusal(404, '404 Board Not Found'))
    expect(namesOf(await boards.all(place))).not.toContain('Sprint 2')
    await api.GroupLabels.remove(group, other.id)
  }
}

export async function commentOnIssues({ api, jane, john }: World, { id }: Plan): Promise<void> {
  const { IssueNotes, IssueDiscussions, IssueNoteAwardEmojis } = api
  const note = await IssueNotes.create(id, 1, 'Please look')
  expect(note).toMatchObject({ body: 'Please look', system: false, noteable_type: 'Issue', noteable_iid: 1 })
  expect(await IssueNotes.edit(id, 1, note.id, { body: 'Please, look' })).toMatchObject({ body: 'Please, look' })
  expect(await IssueNotes.show(id, 1, note.id)).toMatchObject({ id: note.id, author: { username: 'root' } })
  const inner = await jane.api.IssueNotes.create(id, 1, 'Between us', { internal: true })
  expect(inner).toMatchObject({ internal: true, confidential: true })
  const bodies = async (one: World['jane']) =>
    (await one.api.IssueNotes.all(id, 1, { sort: 'asc', perPage: 2 })).filter((n) => !n.system).map((n) => n.body)
  expect(await bodies(jane)).toEqual(['Please, look', 'Between us'])
  expect(await bodies(john)).toEqual(['Please, look'])
  await expect(john.api.IssueNotes.show(id, 1, inner.id)).rejects.toMatchObject(refusal(404, 'Not'))
  await expect(john.api.IssueNotes.remove(id, 1, note.id)).rejects.toMatchObject(refusal(403, '403 Forbidden'))
  await IssueNotes.remove(id, 1, inner.id)
  expect(await IssueNotes.create(id, 1, '/estimate 2h')).toMatchObject({
    commands_changes: expect.any(Object),
    summary: ['Set time estimate to 2h.'],
  })

  const thread = await IssueDiscussions.create(id, 1, 'A thread')
  expect(thread).toMatchObject({ individual_note: false, notes: [{ body: 'A thread', type: 'DiscussionNote' }] })
  const answer = await john.api.IssueDiscussions.addNote(id, 1, thread.id, 'An answer')
  await john.api.IssueDiscussions.editNote(id, 1, thread.id, answer.id, { body: 'My answer' })
  const shown = await IssueDiscussions.show(id, 1, thread.id)
  expect(shown.notes!.map(({ body }) => body)).toEqual(['A thread', 'My answer'])
  expect((await IssueDiscussions.all(id, 1, { perPage: 2 })).map((one) => one.id)).toContain(thread.id)
  await IssueDiscussions.removeNote(id, 1, thread.id, answer.id)
  expect((await IssueDiscussions.show(id, 1, thread.id)).notes).toHaveLength(1)

  const award = await IssueNoteAwardEmojis.award(id, 1, note.id, 'rocket')
  expect(await IssueNoteAwardEmojis.show(id, 1, note.id, award.id)).toMatchObject({
    name: 'rocket',
    awardable_type: 'Note',
    awardable_id: note.id,
  })
  expect(await IssueNoteAwardEmojis.all(id, 1, note.id)).toHaveLength(1)
  await IssueNoteAwardEmojis.remove(id, 1, note.id, award.id)
  const emojis = john.api.IssueAwardEmojis
  const vote = await emojis.award(id, 1, '+1')
  expect(vote).toMatchObject({ name: 'thumbsup', awardable_type: 'Issue' })
  expect(await api.Issues.show(1, { projectId: id })).toMatchObject({ upvotes: 1, downvotes: 0 })
  await expect(emojis.award(id, 1, '+1')).rejects.toMatchObject(refusal(404, 'has already been taken'))
  await expect(emojis.award(id, 1, 'nonsense')).rejects.toMatchObject(refusal(404, 'Award Emoji'))
  await expect(jane.api.IssueAwardEmojis.remove(id, 1, vote.id)).rejects.toMatchObject(refusal(401, '401'))
  await emojis.remove(id, 1, vote.id)
  expect(await emojis.all(id, 1)).toEqual([])
}

export async function commentOnCommits({ api }: World, { id }: Plan): Promise<void> {
  const { CommitDiscussions } = api
  const sha = (await api.Commits.create(id, 'main', 'Begin', [{ action: 'create', filePath: 'a', content: 'a\n' }])).id
  const thread = await CommitDiscussions.create(id, sha, 'On a commit')
  await CommitDiscussions.addNote(id, sha, thread.id, 'Indeed')
  const [shown] = await CommitDiscussions.all(id, sha)
  expect(shown).toMatchObject({ id: thread.id, notes: [{ noteable_type: 'Commit' }, { body: 'Indeed' }] })
  expect((await api.Commits.allComments(id, sha)).map(({ note }) => note)).toEqual(['On a commit', 'Indeed'])
}

export async function workThroughTodos({ api, jane }: World, { id }: Plan): Promise<void> {
  const { TodoLists } = jane.api
  await until(async () => (await TodoLists.all()).length > 0)
  const [todo] = await TodoLists.all({ projectId: id, type: 'Issue', state: 'pending' })
  expect(todo).toMatchObject({ action_name: 'assigned', target: { iid: 1 }, author: { username: 'root' } })
  expect(await TodoLists.done({ todoId: todo!.id })).toMatchObject({ id: todo!.id, state: 'done' })
  expect((await TodoLists.all({ state: 'done' })).map((one) => one.id)).toEqual([todo!.id])
  expect(await jane.api.Issues.createTodo(id, 1)).toMatchObject({ action_name: 'marked', state: 'pending' })
  await TodoLists.done()
  expect(await TodoLists.all()).toEqual([])
  await expect(api.TodoLists.done({ todoId: todo!.id })).rejects.toMatchObject(refusal(404, '404 Not found'))
}

export async function readHistory({ api, jane, john }: World, { id }: Plan): Promise<void> {
  const [added] = await api.IssueLabelEvents.all(id, 1, { perPage: 1, maxPages: 1 })
  expect(added).toMatchObject({ action: 'add', label: { name: 'bug' }, resource_type: 'Issue' })
  expect(await api.IssueLabelEvents.show(id, 1, added!.id)).toEqual(added)
  const states = await api.IssueStateEvents.all(id, 1)
  expect(states.map(({ state }) => state)).toEqual(['closed', 'reopened'])
  expect(await api.IssueStateEvents.show(id, 1, states[0]!.id)).toEqual(states[0])
  const [planned] = await api.IssueMilestoneEvents.all(id, 1)
  expect(planned).toMatchObject({ action: 'add', milestone: { title: 'v1' } })
  expect(await api.IssueMilestoneEvents.show(id, 1, planned!.id)).toEqual(planned)

  const actions = async (input: object = {}) =>
    new Set((await api.Events.all({ projectId: id, ...input })).map((one) => one.action_name))
  await until(async () => (await actions()).has('commented on'))
  expect(await actions({ targetType: 'issue' })).toEqual(new Set(['opened', 'closed']))
  expect((await api.Events.all({ action: 'commented', perPage: 2 })).length).toBeGreaterThan(0)
  const hers = await john.api.Events.all({ userId: jane.id, targetType: 'issue' })
  expect(hers).toEqual([])
  expect(await api.Events.all({ userId: 'gb-jane', targetType: 'issue' })).toMatchObject([{ target_iid: 2 }])
  expect(await api.Events.all({ projectId: id, after: '2999-01-01' })).toEqual([])
}
