import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { Reason } from './levels.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Events that users are mailed about. */
    notifications: {
      id: Generated<number>
      /** A unique key, so that a repeated event creates no second row. */
      source: string
      kind: Kind
      project_id: number
      by_id: number | null
      /** JSON of `Facts`. */
      facts: string
      created_at: string
    }
    /** The recipients. The state becomes `sent` before the mail goes out: after a crash it is not sent twice. */
    notification_mails: {
      notification_id: number
      user_id: number
      reason: Reason
      /** `held`: collected for a digest. */
      state: 'waiting' | 'sent' | 'refused' | 'dropped' | 'held'
    }
  }
}

export type Notification = Row<'notifications'>

export type Kind =
  | 'new_issue'
  | 'change_issue'
  | 'close_issue'
  | 'reopen_issue'
  | 'move_issue'
  | 'issue_due'
  | 'new_merge_request'
  | 'change_merge_request'
  | 'close_merge_request'
  | 'reopen_merge_request'
  | 'merge_merge_request'
  | 'push_to_merge_request'
  | 'merge_when_pipeline_succeeds'
  | 'unmergeable'
  | 'approve_merge_request'
  | 'unapprove_merge_request'
  | 'new_note'
  | 'failed_pipeline'
  | 'fixed_pipeline'
  | 'success_pipeline'
  | 'new_release'
  | 'moved_project'

/** The ids of the records concerned. Texts are loaded when the mail is written. */
export interface Facts {
  readonly issue?: number
  readonly merge_request?: number
  readonly commit?: string
  readonly snippet?: number
  readonly pipeline?: number
  readonly release?: number
  /** Notes that are mailed together. */
  readonly notes?: readonly number[]
  /** The issue before the move. */
  readonly from?: number
  /** First and last commit of a push. */
  readonly before?: string | null
  readonly after?: string | null
  /** Ids before and after the change. */
  readonly assignees?: Change
  readonly reviewers?: Change
  readonly labels?: readonly number[]
  readonly old_path?: string
}

export type Change = readonly [before: readonly number[], after: readonly number[]]
