/** Drives a running Mortise with gitbeaker: merge requests, from the first commit to the merge. */
import { expect } from 'vitest'
import { until } from '../start/command.ts'
import { refusal, type World } from './gitbeaker-tree.ts'

export interface Work {
  readonly id: number
  readonly group: number
}

const iidsOf = (things: { iid: number }[]) => things.map(({ iid }) => iid)
const titlesOf = (things: { title: string }[]) => things.map(({ title }) => title)

async function addFiles({ api }: World, { id }: Work, branch: string, files: Record<string, string>, from?: string) {
  const actions = Object.entries(files).map(([filePath, content]) => ({ action: 'create' as const, filePath, content }))
  return api.Commits.create(id, branch, `Add to ${branch}`, actions, from === undefined ? {} : { startBranch: from })
}

/** A public project of a public group in which jane is a developer. */
export async function makeProject(world: World): Promise<Work> {
  const { api, jane } = world
  const { id: group } = await api.Groups.create('Gb Mill', 'gb-mill', { visibility: 'public' })
  await api.GroupMembers.add(group, 30, { userId: jane.id })
  const { id } = await api.Projects.create({ name: 'Gb Saw', namespaceId: group, visibility: 'public' })
  await addFiles(world, { id, group }, 'master', { 'a.txt': 'one\ntwo\nthree\n' })
  return { id, group }
}

/** Leaves `oil`, which has everything, and `rust`. */
export async function makeRequests(world: World, work: Work): Promise<void> {
  const { api, jane, url } = world
  const { id } = work
  const { MergeRequests } = api
  const { iid: bug } = await api.Issues.create(id, 'It jams')
  const { id: milestoneId } = await api.ProjectMilestones.create(id, 'v1')
  const { id: sha } = await addFiles(world, work, 'oil', { 'oil.txt': 'oil\nmore\n' }, 'master')
  const made = await MergeRequests.create(id, 'oil', 'master', 'Draft: Oil', {
    description: `Closes #${bug}\n\n- [x] look`,
    labels: 'bug,now',
    milestoneId,
    assigneeIds: [jane.id],
    reviewerIds: [jane.id],
    removeSourceBranch: true,
  })
  expect(made).toMatchObject({
    iid: 1,
    project_id: id,
    state: 'opened',
    draft: true,
    labels: ['bug', 'now'],
    milestone: { title: 'v1' },
    assignees: [{ id: jane.id }],
    assignee: { id: jane.id },
    reviewers: [{ username: 'gb-jane' }],
    author: { username: 'root' },
    sha,
    diff_refs: { head_sha: sha },
    changes_count: '1',
    detailed_merge_status: 'draft_status',
    merge_status: 'can_be_merged',
    has_conflicts: false,
    force_remove_source_branch: true,
    subscribed: true,
    user: { can_merge: true },
    references: { short: '!1', relative: '!1', full: 'gb-mill/gb-saw!1' },
    task_completion_status: { count: 1, completed_count: 1 },
    head_pipeline: null,
    web_url: `${url}/gb-mill/gb-saw/-/merge_requests/1`,
  })
  expect(await MergeRequests.show('gb-mill/gb-saw', 1)).toMatchObject({ id: made.id, title: 'Draft: Oil' })
  const twin = MergeRequests.create(id, 'oil', 'master', 'Again')
  await expect(twin).rejects.toMatchObject(refusal(409, 'already exists'))
  await expect(MergeRequests.show(id, 99)).rejects.toMatchObject(refusal(404, '404 Not found'))
  await addFiles(world, work, 'rust', { 'rust.txt': 'rust\n' }, 'master')
  await MergeRequests.create(id, 'rust', 'master', 'Rust')

  expect(iidsOf(await MergeRequests.allIssuesClosed(id, 1))).toEqual([bug])
  await until(async () => (await MergeRequests.allIssuesRelated(id, 1)).length > 0)
  expect(iidsOf(await MergeRequests.allIssuesRelated(id, 1))).toEqual([bug])
  expect(iidsOf(await api.Issues.allClosedByMergeRequestst(id, bug))).toEqual([1])
  expect(iidsOf(await api.Issues.allRelatedMergeRequests(id, bug))).toEqual([1])
  expect(iidsOf(await api.Commits.allMergeRequests(id, sha))).toEqual([1])
  expect(iidsOf(await api.ProjectMilestones.allAssignedMergeRequests(id, milestoneId))).toEqual([1])
}

export async function findRequests({ api, jane }: World, { id, group }: Work): Promise<void> {
  for (const [filter, expected] of [
    [{}, [2, 1]],
    [{ perPage: 1, sort: 'asc' }, [1, 2]],
    [{ state: 'merged' }, []],
    [{ labels: 'bug,now' }, [1]],
    [{ labels: 'None' }, [2]],
    [{ milestone: 'v1' }, [1]],
    [{ not: { labels: 'bug' } }, [2]],
    [{ assigneeId: jane.id }, [1]],
    [{ assigneeId: 'None' }, [2]],
    [{ reviewerId: 'Any' }, [1]],
    [{ reviewerUsername: 'gb-jane' }, [1]],
    [{ authorUsername: 'gb-jane' }, []],
    [{ iids: [1, 7] }, [1]],
    [{ sourceBranch: 'rust', targetBranch: 'master' }, [2]],
    [{ search: 'rus' }, [2]],
    [{ wip: 'yes' }, [1]],
    [{ approvedByIds: [jane.id] }, []],
    [{ updatedAfter: '2999-01-01T00:00:00Z' }, []],
    [{ orderBy: 'updated_at', sort: 'asc', withMergeStatusRecheck: true }, [1, 2]],
  ] as const) {
    const input = filter as object
    for (const place of [{ projectId: id }, { groupId: group }, { scope: 'all' }])
      expect([filter, iidsOf(await api.MergeRequests.all({ ...place, ...input } as object))]).toEqual([
        filter,
        expected,
      ])
  }
  expect(iidsOf(await jane.api.MergeRequests.all({ scope: 'assigned_to_me' }))).toEqual([1])
  const [detailed] = await api.MergeRequests.all({ projectId: id, labels: 'bug', withLabelsDetails: true })
  expect(detailed!.labels).toMatchObject([{ name: 'bug', color: expect.any(String) }, { name: 'now' }])
}

export async function changeRequests({ api, jane }: World, { id }: Work): Promise<void> {
  const { MergeRequests } = api
  const input = { title: 'Oil', addLabels: 'soon', removeLabels: 'now', discussionLocked: true, squash: true }
  expect(await MergeRequests.edit(id, 1, input)).toMatchObject({
    title: 'Oil',
    draft: false,
    labels: ['bug', 'soon'],
    discussion_locked: true,
    squash: true,
    detailed_merge_status: 'mergeable',
  })
  await MergeRequests.edit(id, 1, { discussionLocked: false, squash: false, milestoneId: 0 })
  expect(await MergeRequests.edit(id, 1, { stateEvent: 'close' })).toMatchObject({
    state: 'closed',
    closed_by: { username: 'root' },
    closed_at: expect.any(String),
    milestone: null,
  })
  expect(await MergeRequests.edit(id, 1, { stateEvent: 'reopen' })).toMatchObject({ state: 'opened', closed_at: null })
  const states = await api.MergeRequestStateEvents.all(id, 1)
  expect(states.map(({ state }) => state)).toEqual(['closed', 'reopened'])
  expect(await api.MergeRequestStateEvents.show(id, 1, states[0]!.id)).toEqual(states[0])
  const labels = await api.MergeRequestLabelEvents.all(id, 1)
  expect(labels.map(({ action, label }) => `${action} ${label.name}`).toSorted()).toEqual([
    'add bug',
    'add now',
    'add soon',
    'remove now',
  ])
  expect(await api.MergeRequestLabelEvents.show(id, 1, labels[0]!.id)).toEqual(labels[0])
  const milestones = await api.MergeRequestMilestoneEvents.all(id, 1)
  expect(milestones.map(({ action }) => action)).toEqual(['add', 'remove'])
  expect(await api.MergeRequestMilestoneEvents.show(id, 1, milestones[0]!.id)).toEqual(milestones[0])

  expect(await MergeRequests.unsubscribe(id, 1)).toMatchObject({ subscribed: false })
  expect(await MergeRequests.subscribe(id, 1)).toMatchObject({ subscribed: true })
  const people = (await MergeRequests.allParticipants(id, 1)).map(({ username }) => username)
  expect(people.toSorted()).toEqual(['gb-jane', 'root'])
  await jane.api.TodoLists.done()
  const todo = await jane.api.MergeRequests.createTodo(id, 1)
  expect(todo).toMatchObject({ action_name: 'marked', target_type: 'MergeRequest', target: { iid: 1, title: 'Oil' } })
  expect((await jane.api.TodoLists.all({ type: 'MergeRequest' })).map((one) => one.id)).toEqual([todo.id])
  await jane.api.TodoLists.done({ todoId: todo.id })
  expect(await MergeRequests.setTimeEstimate(id, 1, '3h')).toMatchObject({ time_estimate: 10_800 })
  expect(await MergeRequests.addSpentTime(id, 1, '30m')).toMatchObject({ total_time_spent: 1800 })
  expect(await MergeRequests.showTimeStats(id, 1)).toMatchObject({ human_time_estimate: '3h', total_time_spent: 1800 })
  expect(await MergeRequests.resetTimeEstimate(id, 1)).toMatchObject({ time_estimate: 0 })
  expect(await MergeRequests.resetSpentTime(id, 1)).toMatchObject({ total_time_spent: 0 })
}

export async function readChanges({ api }: World, { id }: Work): Promise<void> {
  const { MergeRequests } = api
  await api.Commits.create(id, 'oil', 'More oil', [
    { action: 'update', filePath: 'a.txt', content: 'one\n2\nthree\n' },
    { action: 'move', filePath: 'grease.txt', previousPath: 'oil.txt' },
  ])
  expect(titlesOf(await MergeRequests.allCommits(id, 1, { perPage: 1 }))).toEqual(['More oil', 'Add to oil'])
  const { changes, overflow } = await MergeRequests.showChanges(id, 1)
  expect(overflow).toBe(false)
  expect(changes).toMatchObject([
    { new_path: 'a.txt', new_file: false, diff: expect.stringContaining('-two\n+2\n') },
    { new_path: 'grease.txt', new_file: true, deleted_file: false, renamed_file: false },
  ])
  const diffs = await MergeRequests.allDiffs(id, 1, { perPage: 1 })
  expect(diffs.map(({ new_path }) => new_path)).toEqual(['a.txt', 'grease.txt'])
  const versions = await MergeRequests.allDiffVersions(id, 1)
  const { sha, diff_refs } = await MergeRequests.show(id, 1)
  expect(versions[0]).toMatchObject({ head_commit_sha: sha, base_commit_sha: diff_refs.base_sha, real_size: '2' })
  const version = await MergeRequests.showDiffVersion(id, 1, versions[0]!.id)
  expect(titlesOf(version.commits)).toEqual(['More oil', 'Add to oil'])
  expect(version.diffs).toMatchObject([{ new_path: 'a.txt' }, { new_path: 'grease.txt' }])
}

export async function commentOnRequests({ api, jane, john }: World, { id }: Work): Promise<void> {
  const { MergeRequestNotes, MergeRequestDiscussions, MergeRequestNoteAwardEmojis } = api
  const note = await john.api.MergeRequestNotes.create(id, 1, 'Looks good')
  expect(note).toMatchObject({ body: 'Looks good', noteable_type: 'MergeRequest', noteable_iid: 1, system: false })
  await john.api.MergeRequestNotes.edit(id, 1, note.id, { body: 'Looks well' })
  expect(await MergeRequestNotes.show(id, 1, note.id)).toMatchObject({ body: 'Looks well' })
  const notes = await MergeRequestNotes.all(id, 1, { sort: 'asc', perPage: 2 })
  expect(notes.filter(({ system }) => !system).map(({ body }) => body)).toEqual(['Looks well'])
  const award = await MergeRequestNoteAwardEmojis.award(id, 1, note.id, 'rocket')
  expect(await MergeRequestNoteAwardEmojis.show(id, 1, note.id, award.id)).toMatchObject({ name: 'rocket' })
  expect(await MergeRequestNoteAwardEmojis.all(id, 1, note.id)).toHaveLength(1)
  await MergeRequestNoteAwardEmojis.remove(id, 1, note.id, award.id)
  await expect(jane.api.MergeRequestNotes.remove(id, 1, note.id)).rejects.toMatchObject(refusal(403, '403'))
  await MergeRequestNotes.remove(id, 1, note.id)
  const vote = await john.api.MergeRequestAwardEmojis.award(id, 1, 'thumbsup')
  expect(await john.api.MergeRequestAwardEmojis.show(id, 1, vote.id)).toMatchObject({ awardable_type: 'MergeRequest' })
  expect(await api.MergeRequests.show(id, 1)).toMatchObject({ upvotes: 1, user_notes_count: 0 })
  await john.api.MergeRequestAwardEmojis.remove(id, 1, vote.id)
  expect(await api.MergeRequestAwardEmojis.all(id, 1)).toEqual([])

  const { diff_refs } = await api.MergeRequests.show(id, 1)
  const shas = { baseSha: diff_refs.base_sha, headSha: diff_refs.head_sha, startSha: diff_refs.start_sha }
  const position = { ...shas, positionType: 'text', oldPath: 'a.txt', newPath: 'a.txt', newLine: '2' } as const
  const thread = await jane.api.MergeRequestDiscussions.create(id, 1, 'Why?', { position })
  expect(thread).toMatchObject({ individual_note: false })
  expect(thread.notes![0]).toMatchObject({
    type: 'DiffNote',
    resolvable: true,
    resolved: false,
    position: { new_path: 'a.txt', new_line: 2, old_line: null, head_sha: shas.headSha },
  })
  const nowhere = jane.api.MergeRequestDiscussions.create(id, 1, 'x', { position: { ...position, newLine: '99' } })
  await expect(nowhere).rejects.toMatchObject(refusal(400, 'line_code'))
  const answer = await MergeRequestDiscussions.addNote(id, 1, thread.id, 'So')
  await MergeRequestDiscussions.editNote(id, 1, thread.id, answer.id, { body: 'Because' })
  const resolved = await MergeRequestDiscussions.resolve(id, 1, thread.id, true)
  expect(resolved.notes).toMatchObject([
    { body: 'Why?', resolved: true, resolved_by: { username: 'root' } },
    { body: 'Because', resolved: true },
  ])
  await jane.api.MergeRequestDiscussions.editNote(id, 1, thread.id, thread.notes![0]!.id, { resolved: false })
  expect((await MergeRequestDiscussions.show(id, 1, thread.id)).notes![0]).toMatchObject({ resolved: false })
  await MergeRequestDiscussions.removeNote(id, 1, thread.id, answer.id)
  await MergeRequestDiscussions.resolve(id, 1, thread.id, true)
  const threads = (await MergeRequestDiscussions.all(id, 1, { perPage: 2 })).filter((one) => !one.individual_note)
  expect(threads.map((one) => [one.id, one.notes!.length])).toEqual([[thread.id, 1]])
}

export async function reviewRequests({ api, jane }: World, { id }: Work): Promise<void> {
  const { MergeRequestDraftNotes: drafts } = jane.api
  const states = async () => (await api.MergeRequests.showReviewers(id, 1)).map(({ user, state }) => [user.id, state])
  expect(await states()).toEqual([[jane.id, 'unreviewed']])
  const { diff_refs } = await api.MergeRequests.show(id, 1)
  const shas = { baseSha: diff_refs.base_sha, headSha: diff_refs.head_sha, startSha: diff_refs.start_sha }
  const position = { ...shas, positionType: 'text', oldPath: 'a.txt', newPath: 'a.txt', newLine: '2' } as const
  const first = await drafts.create(id, 1, 'Not yet said', { position })
  expect(first).toMatchObject({ author_id: jane.id, note: 'Not yet said', position: { new_line: 2 } })
  await drafts.edit(id, 1, first.id, { note: 'Said soon' })
  expect(await drafts.show(id, 1, first.id)).toMatchObject({ note: 'Said soon', position: { new_line: 2 } })
  const [second, third] = [await drafts.create(id, 1, 'Second'), await drafts.create(id, 1, 'Third')]
  await drafts.remove(id, 1, third.id)
  expect((await drafts.all(id, 1)).map(({ note }) => note)).toEqual(['Said soon', 'Second'])
  expect(await api.MergeRequestDraftNotes.all(id, 1)).toEqual([])
  await drafts.publish(id, 1, second.id)
  expect(await states()).toEqual([[jane.id, 'reviewed']])
  await drafts.publishBulk(id, 1)
  expect(await drafts.all(id, 1)).toEqual([])
  const comments = (await api.MergeRequestNotes.all(id, 1, { sort: 'asc' })).filter(({ system }) => !system)
  expect(comments.map(({ body }) => body)).toEqual(['Why?', 'Second', 'Said soon'])
  for (const one of await api.MergeRequestDiscussions.all(id, 1))
    if (one.notes![0]!.resolvable) await api.MergeRequestDiscussions.resolve(id, 1, one.id, true)
}

export async function approveRequests({ api, jane, john }: World, { id }: Work): Promise<void> {
  const { MergeRequestApprovals: approvals } = api
  const hers = jane.api.MergeRequestApprovals
  await approvals.editConfiguration(id, { resetApprovalsOnPush: true, mergeRequestsAuthorApproval: false })
  expect(await approvals.showConfiguration(id)).toMatchObject({ reset_approvals_on_push: true })
  const rule = await approvals.createApprovalRule(id, 'Jane', 2, { userIds: [jane.id] })
  expect(rule).toMatchObject({ name: 'Jane', approvals_required: 2, rule_type: 'regular', users: [{ id: jane.id }] })
  await approvals.editApprovalRule(id, rule.id, 'Her', 1, { userIds: [jane.id] })
  expect(await approvals.showApprovalRule(id, rule.id)).toMatchObject({ name: 'Her', approvals_required: 1 })
  expect((await approvals.allApprovalRules(id)).map(({ name }) => name)).toEqual(['Her'])
  expect(await approvals.showApprovalState(id, 1)).toMatchObject({ rules: [{ name: 'Her', approved: false }] })
  const on = { mergerequestIId: 1 }
  expect(await approvals.showConfiguration(id, on)).toMatchObject({ approvals_required: 1, approvals_left: 1 })
  await expect(approvals.approve(id, 1)).rejects.toMatchObject(refusal(401, '401'))
  await expect(john.api.MergeRequestApprovals.approve(id, 1)).rejects.toMatchObject(refusal(401, '401'))
  await expect(hers.approve(id, 1, { sha: '0'.repeat(40) })).rejects.toMatchObject(refusal(409, 'SHA does not match'))
  const { sha } = await api.MergeRequests.show(id, 1)
  expect(await hers.approve(id, 1, { sha })).toMatchObject({
    approved: true,
    approvals_left: 0,
    approved_by: [{ user: { id: jane.id } }],
  })
  expect(iidsOf(await api.MergeRequests.all({ projectId: id, approvedByIds: [jane.id] }))).toEqual([1])
  expect(await api.MergeRequests.showReviewers(id, 1)).toMatchObject([{ user: { id: jane.id }, state: 'approved' }])
  await hers.unapprove(id, 1)
  expect(await approvals.showConfiguration(id, on)).toMatchObject({ approved: false, approved_by: [] })

  const own = await approvals.createApprovalRule(id, 'Own', 1, { ...on, userIds: [jane.id] })
  expect(own).toMatchObject({ name: 'Own', approvals_required: 1 })
  await approvals.editApprovalRule(id, own.id, 'Own', 0, { ...on, userIds: [] })
  const rules = await approvals.allApprovalRules(id, on)
  expect(rules.find((one) => one.id === own.id)).toMatchObject({ approvals_required: 0, users: [] })
  await approvals.removeApprovalRule(id, own.id, on)
  await approvals.removeApprovalRule(id, rule.id)
  expect(await approvals.allApprovalRules(id)).toEqual([])
}

export async function mergeRequests(world: World, work: Work): Promise<void> {
  const { api, jane } = world
  const { id } = work
  const { MergeRequests } = api
  await addFiles(world, work, 'master', { 'meanwhile.txt': 'x\n' })
  const input = { includeDivergedCommitsCount: true, includeRebaseInProgress: true }
  expect(await MergeRequests.show(id, 1, input)).toMatchObject({ diverged_commits_count: 1, rebase_in_progress: false })
  const { commit_id } = await MergeRequests.mergeToDefault(id, 1)
  const before = (await api.Branches.show(id, 'master')).commit.id
  expect((await api.Commits.show(id, commit_id)).parent_ids![0]).toBe(before)
  expect(await MergeRequests.rebase(id, 1)).toEqual({ rebase_in_progress: true })
  await until(async () => (await MergeRequests.show(id, 1, input))['diverged_commits_count'] === 0)
  expect(await MergeRequests.show(id, 1, input)).toMatchObject({ rebase_in_progress: false, merge_error: null })
  const stale = MergeRequests.accept(id, 1, { sha: before })
  await expect(stale).rejects.toMatchObject(refusal(409, 'SHA does not match HEAD of source branch'))

  const { sha } = await MergeRequests.show(id, 1)
  const report = (state: 'running' | 'success') => api.Commits.editStatus(id, sha, state, { name: 'build', ref: 'oil' })
  await report('running')
  expect(await MergeRequests.merge(id, 1, { autoMerge: true, mergeCommitMessage: 'Oiled' })).toMatchObject({
    state: 'opened',
    merge_when_pipeline_succeeds: true,
  })
  expect(await MergeRequests.cancelOnPipelineSuccess(id, 1)).toMatchObject({ merge_when_pipeline_succeeds: false })
  await MergeRequests.merge(id, 1, { mergeWhenPipelineSucceeds: true, mergeCommitMessage: 'Oiled' })
  await report('success')
  await until(async () => (await MergeRequests.show(id, 1)).state === 'merged')
  const merged = await MergeRequests.show(id, 1)
  expect(merged).toMatchObject({ merged_by: { username: 'root' }, merged_at: expect.any(String) })
  expect((await api.Branches.show(id, 'master')).commit).toMatchObject({ id: merged.merge_commit_sha, title: 'Oiled' })
  await until(async () => (await api.Issues.show(1, { projectId: id })).state === 'closed')

  const { iid: rust, sha: oxide } = await MergeRequests.show(id, 2)
  expect(await MergeRequests.accept(id, rust, { sha: oxide })).toMatchObject({ state: 'merged', title: 'Rust' })
  await expect(MergeRequests.accept(id, rust)).rejects.toMatchObject(refusal(406, 'Method Not Allowed'))

  await addFiles(world, work, 'late', { 'late.txt': 'x\n' }, 'master')
  const late = await jane.api.MergeRequests.create(id, 'late', 'master', 'Late')
  await expect(jane.api.MergeRequests.remove(id, late.iid)).rejects.toMatchObject(refusal(403, '403'))
  await MergeRequests.remove(id, late.iid)
  await expect(MergeRequests.show(id, late.iid)).rejects.toMatchObject(refusal(404, '404 Not found'))
}
