import type { Generated, GeneratedAlways } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { ItemChanges } from '../items/changes.ts'

export const ISSUE_TYPES = ['issue', 'incident', 'test_case', 'task'] as const
export type IssueType = (typeof ISSUE_TYPES)[number]

/** The worst first: `S1` to `S4`, then unknown. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'unknown'] as const
export type Severity = (typeof SEVERITIES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    /** The number of issues per state and confidentiality. */
    issues_facets: { project_id: number; state: string; confidential: boolean; total: number }
    issues: {
      id: Generated<number>
      project_id: number
      iid: number
      /** Null only while the removal of its author runs, until the successor is set. */
      author_id: number | null
      title: string
      description: string | null
      state: Generated<'opened' | 'closed'>
      issue_type: Generated<IssueType>
      /** Only for incidents. */
      severity: Generated<Severity>
      confidential: Generated<boolean>
      discussion_locked: boolean | null
      milestone_id: number | null
      due_date: string | null
      weight: number | null
      /** Seconds. */
      time_estimate: Generated<number>
      total_time_spent: Generated<number>
      tasks: Generated<number>
      tasks_completed: Generated<number>
      /** Maintained by triggers: the due date of the milestone, and the lowest priority number of the labels. */
      milestone_due: Generated<string | null>
      label_priority: Generated<number | null>
      /** Maintained by triggers, like the next three. */
      user_notes_count: Generated<number>
      /** Merge requests that close this issue. */
      merge_requests_count: Generated<number>
      upvotes: Generated<number>
      downvotes: Generated<number>
      relative_position: number | null
      closed_at: string | null
      closed_by_id: number | null
      moved_to_id: number | null
      duplicated_to_id: number | null
      /** The last editor of any field. Then time and user of the last edit of title or description. */
      updated_by_id: Generated<number | null>
      last_edited_at: Generated<string | null>
      last_edited_by_id: Generated<number | null>
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    /** `since` is the creation time of the issue, copied by trigger. */
    issue_assignees: { issue_id: number; user_id: number; since: GeneratedAlways<string> }
    issue_labels: { issue_id: number; label_id: number }
    issue_links: {
      id: Generated<number>
      source_id: number
      target_id: number
      link_type: 'relates_to' | 'blocks'
      created_at: string
      updated_at: string
    }
    user_agent_details: {
      id: Generated<number>
      issue_id: number | null
      snippet_id: number | null
      user_agent: string
      ip_address: string
      created_at: string
    }
  }
  interface Events {
    /** `plain`: title and description have no references. */
    'issue.created': { id: number; project_id: number; by: number; plain?: true }
    /** A branch was created from the issue. */
    'issue.branched': { id: number; project_id: number; by: number; branch: string }
    'issue.updated': { id: number; project_id: number; by: number; changes: ItemChanges }
    'issue.closed': { id: number; project_id: number; by: number }
    'issue.reopened': { id: number; project_id: number; by: number }
    'issue.moved': { id: number; project_id: number; to: number; by: number; changes: ItemChanges }
    'issue.restored': { id: number; project_id: number }
    'issue.deleted': { id: number; project_id: number; iid: number; title: string; by: number }
  }
}

export type Issue = Row<'issues'>
