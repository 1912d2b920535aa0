import type { App } from '../../../context.ts'
import { formatDuration } from '../../../lib/time/duration.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { Issue, IssueType } from '../../planning/issues/model.ts'
import { assigneesOf, findIssues } from '../../planning/issues/queries.ts'
import { issueKind } from '../../planning/issues/kind.ts'
import { labelsOfItems } from '../../planning/items/links.ts'
import { presentTimeStats } from '../../planning/time-tracking/entity.ts'
import { STATE_IDS, hookChanges, openingChanges, partsOf, timeChange, type Changes } from './changes.ts'
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

const SWITCHES = ['issues_events', 'confidential_issues_events'] as const

const TYPES: Readonly<Record<IssueType, string>> = {
  issue: 'Issue',
  incident: 'Incident',
  test_case: 'Test Case',
  task: 'Task',
}

/** An issue, as every message about an issue contains it. */
export async function loadHookIssue(app: App, id: number) {
  const [issue] = await findIssues(app.db, [id])
  const at = issue && (await findProjectInNamespace(app, issue.project_id))
  if (!at) return null
  const labels = ((await labelsOfItems(app.db, issueKind, [id])).get(id) ?? []).map(hookLabel)
  const assignees = await hookUsers(app, (await assigneesOf(app.db, [id])).get(id) ?? [])
  const attributes = attributesOf(app, issue, at, labels, assignees)
  return { issue, at, labels, assignees, attributes }
}

function attributesOf(
  app: App,
  issue: Issue,
  at: ProjectInNamespace,
  labels: readonly object[],
  assignees: readonly { readonly id: number }[],
) {
  const { web_url } = hookProject(app, at)
  return {
    id: issue.id,
    iid: issue.iid,
    title: issue.title,
    description: hookText(app, issue.description, web_url),
    state: issue.state,
    state_id: STATE_IDS[issue.state]!,
    author_id: issue.author_id,
    project_id: issue.project_id,
    milestone_id: issue.milestone_id,
    assignee_id: assignees[0]?.id ?? null,
    assignee_ids: assignees.map(({ id }) => id),
    labels,
    confidential: issue.confidential,
    discussion_locked: issue.discussion_locked,
    due_date: issue.due_date,
    closed_at: rowTime(issue.closed_at),
    created_at: rowTime(issue.created_at),
    updated_at: rowTime(issue.updated_at),
    updated_by_id: issue.updated_by_id,
    last_edited_at: rowTime(issue.last_edited_at),
    last_edited_by_id: issue.last_edited_by_id,
    moved_to_id: issue.moved_to_id,
    duplicated_to_id: issue.duplicated_to_id,
    relative_position: issue.relative_position,
    severity: issue.severity,
    type: TYPES[issue.issue_type],
    weight: issue.weight,
    ...presentTimeStats(issue),
    url: pageBelow(web_url, `issues/${issue.iid}`),
  }
}

interface Payload {
  readonly id: number
  readonly by: number
}

type Part = { readonly action: string; readonly changes: Changes | null }

async function issueMessages(app: App, { id, by }: Payload, parts: readonly Part[]): Promise<EventMessage[]> {
  const loaded = await loadHookIssue(app, id)
  if (!loaded) return []
  const { issue, at, labels, assignees, attributes } = loaded
  const { confidential, project_id } = issue
  const project = hookProject(app, at)
  const user = await hookUserById(app, by)
  const messages: EventMessage[] = []
  for (const { action, changes } of parts) {
    const time = timeChange(changes ?? {})
    const body = {
      object_kind: 'issue',
      event_type: confidential ? 'confidential_issue' : 'issue',
      user,
      project,
      object_attributes: {
        ...attributes,
        time_change: time,
        human_time_change: time === 0 ? null : formatDuration(time),
        action,
      },
      labels,
      changes: changes
        ? await hookChanges(app, presentable(changes), project.web_url)
        : openingChanges(attributes, { labels, assignees }),
      repository: hookRepository(app, at),
      ...(assignees.length > 0 && { assignees, assignee: assignees[0] }),
    }
    const name = confidential ? 'confidential_issues_events' : 'issues_events'
    messages.push(projectMessage({ kind: 'issue', switch: name, project_id, body }))
  }
  return messages
}

/** Removes texts that the issue had while it was confidential. */
function presentable(changes: Changes): Changes {
  if (changes['confidential']?.[0] !== true) return changes
  const { title: _title, description: _description, ...rest } = changes
  return rest
}

export const issueSources = [
  source('issue.created', SWITCHES, (app, event) => issueMessages(app, event, [{ action: 'open', changes: null }])),
  source('issue.updated', SWITCHES, (app, event) => issueMessages(app, event, partsOf(event.changes))),
  source('issue.moved', SWITCHES, (app, event) => issueMessages(app, event, partsOf(event.changes))),
]
