import type { Generated, GeneratedAlways } from 'kysely'
import type { Row } from '../../../store/database.ts'

/** When its merge request was created, by trigger: lists by person walk it. */
type InOrder = { since: GeneratedAlways<string> }

declare module '../../../store/database.ts' {
  interface Tables {
    merge_requests: {
      id: Generated<number>
      /** The target's, which it is a record of. */
      project_id: number
      iid: number
      /** Null: it is gone. */
      source_project_id: number | null
      source_branch: string
      target_branch: string
      /** Null only between the farewell of its author and the heir's coming. */
      author_id: number | null
      title: string
      description: string | null
      /** `locked` lasts only while a merge runs; clients know no such state. */
      state: Generated<'opened' | 'closed' | 'merged' | 'locked'>
      /** As its title says. */
      draft: Generated<boolean>
      discussion_locked: boolean | null
      milestone_id: number | null
      squash: Generated<boolean>
      allow_collaboration: Generated<boolean>
      /** Null: the project's. */
      approvals_before_merge: number | null
      /** As its author wished, and as whoever merges it does. */
      force_remove_source_branch: Generated<boolean>
      should_remove_source_branch: boolean | null
      /** These four of its newest version. */
      head_sha: string | null
      base_sha: string | null
      start_sha: string | null
      changes_count: string | null
      /** Whether these two commits can be merged. */
      check_head: string | null
      check_target: string | null
      check_result: CheckResult | null
      /** Paths, as JSON. */
      check_conflicts: string | null
      auto_merge: Generated<boolean>
      /** JSON. */
      auto_merge_wish: string | null
      /** Who merged it, or set it to merge by itself. */
      merge_user_id: number | null
      merge_error: string | null
      merge_commit_sha: string | null
      squash_commit_sha: string | null
      merged_at: string | null
      /** What is about to be put onto the target, as JSON. */
      merging: string | null
      closed_at: string | null
      closed_by_id: number | null
      /** Seconds. */
      time_estimate: Generated<number>
      total_time_spent: Generated<number>
      tasks: Generated<number>
      tasks_completed: Generated<number>
      /** These three by triggers. */
      user_notes_count: Generated<number>
      upvotes: Generated<number>
      downvotes: Generated<number>
      /** The lowest number of its labels' priorities, by triggers. */
      label_priority: Generated<number | null>
      /** Who changed it last, and when and by whom its title or description last was. */
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
    /** Issues that merging it would close. */
    merge_request_closes: { merge_request_id: number; issue_id: number }
    /** Where the branches stand that merge requests go to. */
    merge_targets: { project_id: number; branch: string; sha: string | null }
  }
  interface Events {
    'merge_request.created': { id: number; project_id: number; by: number }
    'merge_request.updated': { id: number; project_id: number; by: number; changes: MergeRequestChanges }
    'merge_request.closed': { id: number; project_id: number; by: number }
    'merge_request.reopened': { id: number; project_id: number; by: number }
    'merge_request.merged': { id: number; project_id: number; by: number | null; changes: MergeRequestChanges }
    /** Its source has new commits; `before` is the head it had. */
    'merge_request.pushed': {
      id: number
      project_id: number
      by: number | null
      before: string | null
      after: string | null
      changes: MergeRequestChanges
    }
    /** Notes that were published together. */
    'merge_request.reviewed': { id: number; project_id: number; by: number; notes: number[] }
    /** What was to merge by itself could not be. */
    'merge_request.unmergeable': { id: number; project_id: number }
    'merge_request.deleted': { id: number; project_id: number; iid: number; title: string; by: number }
  }
}

/** `undecided`: git did not come to an end; it is tried again later, not by whoever asks. */
export type CheckResult = 'mergeable' | 'conflict' | 'empty' | 'missing' | 'undecided'
/** `unapproved`: they had approved it, and took that back or a push did. */
export const REVIEWER_STATES = ['unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved'] as const
export type ReviewerState = (typeof REVIEWER_STATES)[number]

/** What a change altered, before and after; ids where a field holds records. */
export type MergeRequestChanges = { [field: string]: readonly [unknown, unknown] }

export type MergeRequest = Row<'merge_requests'>

/** Not yet merged, nor closed. */
export const isOpen = ({ state }: Pick<MergeRequest, 'state'>): boolean => state === 'opened' || state === 'locked'
