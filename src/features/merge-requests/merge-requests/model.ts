import type { Generated, GeneratedAlways } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { ItemChanges } from '../../planning/items/changes.ts'

/** The creation time of the merge request, copied by trigger for lists by user. */
type InOrder = { since: GeneratedAlways<string> }

declare module '../../../store/database.ts' {
  interface Tables {
    merge_requests: {
      id: Generated<number>
      /** The target project. */
      project_id: number
      iid: number
      /** Null: the source project was deleted. */
      source_project_id: number | null
      source_branch: string
      target_branch: string
      /** Null only while the removal of its author runs, until the successor is set. */
      author_id: number | null
      title: string
      description: string | null
      /** `locked` only while a merge runs. Clients never see this state. */
      state: Generated<'opened' | 'closed' | 'merged' | 'locked'>
      /** Derived from the title. */
      draft: Generated<boolean>
      discussion_locked: boolean | null
      milestone_id: number | null
      squash: Generated<boolean>
      allow_collaboration: Generated<boolean>
      /** Null: the number of the project. */
      approvals_before_merge: number | null
      /** The choice of the author, and the choice of the user who merges. */
      force_remove_source_branch: Generated<boolean>
      should_remove_source_branch: boolean | null
      /** These four belong to the newest version. */
      head_sha: string | null
      base_sha: string | null
      start_sha: string | null
      changes_count: string | null
      /** The result of the merge check, for this pair of commits. */
      check_head: string | null
      check_target: string | null
      check_result: CheckResult | null
      /** JSON list of paths. */
      check_conflicts: string | null
      auto_merge: Generated<boolean>
      /** JSON: the merge options of auto-merge. */
      auto_merge_wish: string | null
      /** The user who merged it or enabled auto-merge. */
      merge_user_id: number | null
      merge_error: string | null
      merge_commit_sha: string | null
      squash_commit_sha: string | null
      merged_at: string | null
      /** JSON: the commit that a running merge is about to put on the target. */
      merging: string | null
      closed_at: string | null
      closed_by_id: number | null
      /** Seconds. */
      time_estimate: Generated<number>
      total_time_spent: Generated<number>
      tasks: Generated<number>
      tasks_completed: Generated<number>
      /** Triggers maintain these three. */
      user_notes_count: Generated<number>
      upvotes: Generated<number>
      downvotes: Generated<number>
      /** The lowest priority number of its labels, maintained by triggers. */
      label_priority: Generated<number | null>
      /** The last editor of any field. Then time and user of the last edit of title or description. */
      updated_by_id: Generated<number | null>
      last_edited_at: Generated<string | null>
      last_edited_by_id: Generated<number | null>
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    merge_request_assignees: { merge_request_id: number; user_id: number } & InOrder
    merge_request_reviewers: {
      merge_request_id: number
      user_id: number
      state: Generated<ReviewerState>
      created_at: string
    } & InOrder
    merge_request_labels: { merge_request_id: number; label_id: number }
    merge_request_approvals: { merge_request_id: number; user_id: number; created_at: string } & InOrder
    /** Issues that merging closes. */
    merge_request_closes: { merge_request_id: number; issue_id: number }
    /** The tips of target branches. */
    merge_targets: { project_id: number; branch: string; sha: string | null }
    /** The commits of merge requests in the bin, which housekeeping keeps. */
    deleted_commits: { id: Generated<number>; deleted_item_id: number; project_id: number; sha: string }
  }
  interface Events {
    /** `plain`: title and description have no references. */
    'merge_request.created': { id: number; project_id: number; by: number; plain?: true }
    'merge_request.updated': { id: number; project_id: number; by: number; changes: ItemChanges }
    'merge_request.closed': { id: number; project_id: number; by: number }
    'merge_request.reopened': { id: number; project_id: number; by: number }
    'merge_request.merged': { id: number; project_id: number; by: number | null; changes: ItemChanges }
    /** The source has new commits; `before` is the previous head. */
    'merge_request.pushed': {
      id: number
      project_id: number
      by: number | null
      before: string | null
      after: string | null
      changes: ItemChanges
    }
    /** Notes that were published together. */
    'merge_request.reviewed': { id: number; project_id: number; by: number; notes: number[] }
    /** Auto-merge failed. */
    'merge_request.unmergeable': { id: number; project_id: number }
    'merge_request.restored': { id: number; project_id: number }
    'merge_request.deleted': { id: number; project_id: number; iid: number; title: string; by: number }
  }
}

/** `undecided`: git did not finish. A job retries the check later; requests do not. */
export type CheckResult = 'mergeable' | 'conflict' | 'empty' | 'missing' | 'undecided'
/** `unapproved`: the reviewer revoked the approval, or a push did. */
export const REVIEWER_STATES = ['unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved'] as const
export type ReviewerState = (typeof REVIEWER_STATES)[number]

export type MergeRequest = Row<'merge_requests'>

/** Neither merged nor closed. */
export const isOpen = ({ state }: Pick<MergeRequest, 'state'>): boolean => state === 'opened' || state === 'locked'
