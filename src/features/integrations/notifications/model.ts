import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { Reason } from './levels.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** News that people are mailed. */
    notifications: {
      id: Generated<number>
      /** The same each time it is told. */
      source: string
      kind: Kind
      project_id: number
      by_id: number | null
      /** JSON. */
      facts: string
      created_at: string
    }
    /** Who is mailed it. `sent` is written first: a mail that a crash cuts off is not sent again. */
    notification_mails: {
      notification_id: number
      user_id: number
      reason: Reason
      /** `held`: it comes in a digest. */
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

/** What it is about. Texts are read when the mail is written. */
export interface Facts {
  readonly issue?: number
  readonly merge_request?: number
  readonly commit?: string
  readonly snippet?: number
  readonly pipeline?: number
  readonly release?: number
  /** What was said, together. */
  readonly notes?: readonly number[]
  /** The issue that it was before it moved. */
  readonly from?: number
  /** Commits of a push. */
  readonly before?: string | null
  readonly after?: string | null
  /** Ids before and after. */
  readonly assignees?: Change
  readonly reviewers?: Change
  readonly labels?: readonly number[]
  readonly old_path?: string
}

export type Change = readonly [before: readonly number[], after: readonly number[]]
