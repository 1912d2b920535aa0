import { z } from 'zod'
import { API } from '../../../api/router.ts'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { taskStatus } from '../../../lib/text/tasks.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { LabelDetailsEntity, presentLabelDetails } from '../labels/entity.ts'
import type { Label } from '../labels/model.ts'
import { MilestoneEntity, type MilestoneRecord } from '../milestones/entity.ts'
import { TimeStatsEntity, presentTimeStats } from '../time-tracking/entity.ts'
import type { Issue } from './model.ts'

export const IssueEntity = entity({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed']),
  created_at: timestampOut,
  updated_at: timestampOut,
  closed_at: timestampOut.nullable(),
  closed_by: UserSummaryEntity.nullable(),
  /** Titles, or with `with_labels_details` records. */
  labels: z.union([z.array(z.string()), z.array(LabelDetailsEntity)]),
  milestone: MilestoneEntity.nullable(),
  assignees: z.array(UserSummaryEntity),
  assignee: UserSummaryEntity.nullable(),
  author: UserSummaryEntity.nullable(),
  user_notes_count: z.int(),
  merge_requests_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  due_date: dateOut.nullable(),
  weight: z.int().nullable(),
  confidential: z.boolean(),
  discussion_locked: z.boolean().nullable(),
  issue_type: z.string(),
  type: z.string(),
  severity: z.string(),
  web_url: z.string(),
  time_stats: TimeStatsEntity,
  has_tasks: z.boolean(),
  task_status: z.string().optional(),
  task_completion_status: entity({ count: z.int(), completed_count: z.int() }),
  moved_to_id: z.int().nullable(),
  references: entity({ short: z.string(), relative: z.string(), full: z.string() }),
  imported: z.boolean(),
  imported_from: z.string(),
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

export interface LoadedIssue extends Issue {
  readonly author: User | null
  readonly closer: User | null
  readonly assignees: readonly User[]
  readonly labels: readonly Label[]
  readonly milestone: MilestoneRecord | null
  /** The path of the project. */
  readonly path: string
  /** The issue that this one duplicates, for its API URL. */
  readonly duplicate: { readonly project_id: number; readonly iid: number } | null
  readonly subscribed?: boolean
}

export interface IssueSurroundings {
  readonly users: Surroundings
  readonly labelDetails: boolean
  /** Whether the list has records of several projects. */
  readonly isMixed: boolean
}

export function presentIssue(issue: LoadedIssue, around: IssueSurroundings): IssueRecord {
  const { url } = around.users
  const short = `#${issue.iid}`
  const full = `${issue.path}${short}`
  const api = (project: number, iid: number) => `${url}${API}/projects/${project}/issues/${iid}`
  const self = api(issue.project_id, issue.iid)
  const user = (one: User | null) => one && presentUserSummary(one, around.users)
  const assignees = issue.assignees.map((one) => presentUserSummary(one, around.users))
  const tasks = { count: issue.tasks, completed_count: issue.tasks_completed }
  const status = taskStatus(tasks)
  return {
    id: issue.id,
    iid: issue.iid,
    project_id: issue.project_id,
    title: issue.title,
    description: issue.description,
    state: issue.state,
    created_at: issue.created_at,
    updated_at: issue.updated_at,
    closed_at: issue.closed_at,
    closed_by: user(issue.closer),
    labels: around.labelDetails ? issue.labels.map(presentLabelDetails) : issue.labels.map(({ title }) => title),
    milestone: issue.milestone,
    assignees,
    assignee: assignees[0] ?? null,
    author: user(issue.author),
    user_notes_count: issue.user_notes_count,
    merge_requests_count: issue.merge_requests_count,
    upvotes: issue.upvotes,
    downvotes: issue.downvotes,
    due_date: issue.due_date,
    weight: issue.weight,
    confidential: issue.confidential,
    discussion_locked: issue.discussion_locked,
    issue_type: issue.issue_type,
    type: issue.issue_type.toUpperCase(),
    severity: issue.severity.toUpperCase(),
    web_url: pageBelow(`${url}/${issue.path}`, `issues/${issue.iid}`),
    time_stats: presentTimeStats(issue),
    has_tasks: issue.tasks > 0,
    ...(status !== null && { task_status: status }),
    task_completion_status: tasks,
    moved_to_id: issue.moved_to_id,
    references: { short, relative: around.isMixed ? full : short, full },
    imported: false,
    imported_from: 'none',
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
