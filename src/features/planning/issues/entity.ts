import { z } from 'zod'
import { API } from '../../../api/router.ts'
import { dateOut, entity } from '../../../api/wire.ts'
import { taskStatus } from '../../../lib/text/tasks.ts'
import { itemRecord, presentItem, type ItemSurroundings, type LoadedItem } from '../items/entity.ts'
import { issueKind } from './kind.ts'
import type { Issue } from './model.ts'

export const IssueEntity = entity({
  ...itemRecord,
  state: z.enum(['opened', 'closed']),
  merge_requests_count: z.int(),
  due_date: dateOut.nullable(),
  weight: z.int().nullable(),
  confidential: z.boolean(),
  issue_type: z.string(),
  type: z.string(),
  severity: z.string(),
  has_tasks: z.boolean(),
  task_status: z.string().optional(),
  moved_to_id: z.int().nullable(),
  service_desk_reply_to: z.null(),
  _links: entity({
    self: z.string(),
    notes: z.string(),
    award_emoji: z.string(),
    project: z.string(),
    closed_as_duplicate_of: z.string().nullable(),
  }),
  /** Only in the record of a single issue. */
  subscribed: z.boolean().optional(),
  /** With `render_html`: rendered for the viewer. */
  description_html: z.string().optional(),
}).meta({ id: 'Issue' })

export type IssueRecord = z.infer<typeof IssueEntity>

export const StatisticsEntity = entity({
  statistics: entity({ counts: entity({ all: z.int(), closed: z.int(), opened: z.int() }) }),
}).meta({ id: 'IssuesStatistics' })

export const UserAgentDetailEntity = entity({
  user_agent: z.string(),
  ip_address: z.string(),
  akismet_submitted: z.boolean(),
}).meta({ id: 'UserAgentDetail' })

export type LoadedIssue = LoadedItem &
  Issue & {
    /** The issue that this one duplicates, for its API URL. */
    readonly duplicate: { readonly project_id: number; readonly iid: number } | null
    readonly subscribed?: boolean
  }

export function presentIssue(issue: LoadedIssue, around: ItemSurroundings): IssueRecord {
  const { url } = around.users
  const api = (project: number, iid: number) => `${url}${API}/projects/${project}/issues/${iid}`
  const self = api(issue.project_id, issue.iid)
  const item = presentItem(issueKind, issue, around)
  const status = taskStatus(item.task_completion_status)
  return {
    ...item,
    state: issue.state,
    merge_requests_count: issue.merge_requests_count,
    due_date: issue.due_date,
    weight: issue.weight,
    confidential: issue.confidential,
    issue_type: issue.issue_type,
    type: issue.issue_type.toUpperCase(),
    severity: issue.severity.toUpperCase(),
    has_tasks: issue.tasks > 0,
    ...(status !== null && { task_status: status }),
    moved_to_id: issue.moved_to_id,
    service_desk_reply_to: null,
    _links: {
      self,
      notes: `${self}/notes`,
      award_emoji: `${self}/award_emoji`,
      project: `${url}${API}/projects/${issue.project_id}`,
      closed_as_duplicate_of: issue.duplicate && api(issue.duplicate.project_id, issue.duplicate.iid),
    },
    ...(issue.subscribed !== undefined && { subscribed: issue.subscribed }),
  }
}
