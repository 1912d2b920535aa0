import type { App } from '../../../context.ts'
import { formatDuration } from '../../../lib/time/duration.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { MergeRequest } from '../../merge-requests/merge-requests/model.ts'
import { mergeRequestKind } from '../../merge-requests/merge-requests/kind.ts'
import { findMergeRequests, firstContributionLookup } from '../../merge-requests/merge-requests/queries.ts'
import { mergeFacts } from '../../merge-requests/mergeability/facts.ts'
import { detailedMergeStatus, mergeStatus } from '../../merge-requests/mergeability/gates.ts'
import { headPipelinesOf } from '../../merge-requests/pipelines/queries.ts'
import { labelsOfItems, usersOfItems } from '../../planning/items/links.ts'
import { presentTimeStats } from '../../planning/time-tracking/entity.ts'
import { STATE_IDS, hookChanges, openingChanges, partsOf, timeChange, type Changes } from './changes.ts'
import { commitStub } from './commits.ts'
import { source, projectMessage } from './message.ts'
import {
  hookLabel,
  hookProject,
  hookRepository,
  hookText,
  hookUserById,
  hookUsers,
  findProjectInNamespace,
  rowTime,
  type ProjectInNamespace,
} from './shared.ts'

const SWITCHES = ['merge_requests_events'] as const

type People = readonly { readonly id: number }[]

/** A merge request, as every message about a merge request contains it. `last_commit` is completed later. */
export async function loadHookMergeRequest(app: App, id: number) {
  const [one] = await findMergeRequests(app.db, [id])
  const at = one && (await findProjectInNamespace(app, one.project_id))
  if (!at) return null
  const labels = ((await labelsOfItems(app.db, mergeRequestKind, [id])).get(id) ?? []).map(hookLabel)
  const people = async (role: 'assignees' | 'reviewers') =>
    hookUsers(app, (await usersOfItems(app.db, mergeRequestKind, role, [id])).get(id) ?? [])
  const [assignees, reviewers] = [await people('assignees'), await people('reviewers')]
  const attributes = await attributesOf(app, one, at, { labels, assignees, reviewers })
  return { one, at, labels, assignees, reviewers, attributes }
}

async function attributesOf(
  app: App,
  one: MergeRequest,
  at: ProjectInNamespace,
  { labels, assignees, reviewers }: { labels: readonly object[]; assignees: People; reviewers: People },
) {
  const target = hookProject(app, at)
  const isOwn = one.source_project_id === one.project_id
  const from = isOwn
    ? at
    : one.source_project_id === null
      ? null
      : await findProjectInNamespace(app, one.source_project_id)
  const facts = (await mergeFacts(app.db, [one])).get(one.id)!
  return {
    id: one.id,
    iid: one.iid,
    title: one.title,
    description: hookText(app, one.description, target.web_url),
    state: one.state,
    state_id: STATE_IDS[one.state]!,
    source_branch: one.source_branch,
    target_branch: one.target_branch,
    source_project_id: one.source_project_id,
    target_project_id: one.project_id,
    author_id: one.author_id,
    assignee_id: assignees[0]?.id ?? null,
    assignee_ids: assignees.map(({ id }) => id),
    reviewer_ids: reviewers.map(({ id }) => id),
    labels,
    milestone_id: one.milestone_id,
    merge_status: mergeStatus(facts),
    detailed_merge_status: detailedMergeStatus(facts),
    merge_commit_sha: one.merge_commit_sha,
    merge_error: one.merge_error,
    merge_params: mergeParams(one),
    merge_user_id: one.merge_user_id,
    merge_when_pipeline_succeeds: one.auto_merge,
    head_pipeline_id: (await headPipelinesOf(app.db, [one])).get(one.id)?.id ?? null,
    created_at: rowTime(one.created_at),
    updated_at: rowTime(one.updated_at),
    prepared_at: rowTime(one.created_at),
    updated_by_id: one.updated_by_id,
    last_edited_at: rowTime(one.last_edited_at),
    last_edited_by_id: one.last_edited_by_id,
    ...presentTimeStats(one),
    work_in_progress: one.draft,
    draft: one.draft,
    first_contribution: await firstContributionLookup(one).ask(app.db),
    blocking_discussions_resolved: !facts.discussions.required || facts.discussions.unresolved === 0,
    source: from && hookProject(app, from),
    target,
    last_commit: commitStub(one.head_sha),
    url: pageBelow(target.web_url, `merge_requests/${one.iid}`),
  }
}

/** The merge options. */
const mergeParams = (one: MergeRequest): object => ({
  force_remove_source_branch: one.force_remove_source_branch,
  ...(one.should_remove_source_branch !== null && { should_remove_source_branch: one.should_remove_source_branch }),
  ...(JSON.parse(one.auto_merge_wish ?? '{}') as object),
})

interface Payload {
  readonly id: number
  readonly by: number | null
}

interface Part {
  readonly action: string
  readonly changes: Changes | null
  readonly oldrev?: string | null
}

async function mergeRequestMessages(app: App, { id, by }: Payload, parts: readonly Part[]): Promise<EventMessage[]> {
  const loaded = await loadHookMergeRequest(app, id)
  if (!loaded) return []
  const { one, at, labels, assignees, reviewers, attributes } = loaded
  const user = await hookUserById(app, by)
  const messages: EventMessage[] = []
  for (const { action, changes, oldrev } of parts) {
    const time = timeChange(changes ?? {})
    const body = {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user,
      project: attributes.target,
      object_attributes: {
        ...attributes,
        time_change: time,
        human_time_change: time === 0 ? null : formatDuration(time),
        action,
        ...(oldrev && { oldrev }),
      },
      labels,
      changes: changes
        ? await hookChanges(app, changes, attributes.target.web_url)
        : openingChanges(attributes, { labels, assignees, reviewers }),
      repository: hookRepository(app, at),
      ...(assignees.length > 0 && { assignees, assignee: assignees[0] }),
      ...(reviewers.length > 0 && { reviewers }),
    }
    messages.push(
      projectMessage({
        kind: 'merge_request',
        switch: 'merge_requests_events',
        project_id: one.project_id,
        body,
        to_system: true,
        complete: attributes.last_commit === null,
      }),
    )
  }
  return messages
}

export const mergeRequestSources = [
  source('merge_request.created', SWITCHES, (app, event) =>
    mergeRequestMessages(app, event, [{ action: 'open', changes: null }]),
  ),
  source('merge_request.updated', SWITCHES, (app, event) => mergeRequestMessages(app, event, partsOf(event.changes))),
  source('merge_request.pushed', SWITCHES, (app, event) =>
    mergeRequestMessages(app, event, [{ action: 'update', changes: event.changes, oldrev: event.before }]),
  ),
  source('merge_request.merged', SWITCHES, (app, event) =>
    mergeRequestMessages(app, event, [{ action: 'merge', changes: event.changes }]),
  ),
  source('merge_request.approved', SWITCHES, (app, event) =>
    mergeRequestMessages(app, event, [{ action: event.complete ? 'approved' : 'approval', changes: {} }]),
  ),
  source('merge_request.unapproved', SWITCHES, (app, event) =>
    mergeRequestMessages(app, event, [{ action: event.complete ? 'unapproved' : 'unapproval', changes: {} }]),
  ),
]
