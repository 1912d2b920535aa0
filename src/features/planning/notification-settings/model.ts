import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Of a project, of a group or, with neither, the global setting. */
    notification_settings: {
      id: Generated<number>
      user_id: number
      project_id: number | null
      group_id: number | null
      /** An index of `LEVELS`. */
      level: number
      /** Null: the primary mail address. */
      notification_email: string | null
      /** JSON of the events that were set. */
      events: Generated<string>
      /** Only in the global setting. */
      notified_of_own_activity: Generated<boolean>
      created_at: string
      updated_at: string
    }
  }
}

export type NotificationSetting = Row<'notification_settings'>

/** The index is the stored number. */
export const LEVELS = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const
export type NotificationLevel = (typeof LEVELS)[number]

/** The custom events, with their defaults. */
export const CUSTOM_EVENTS = {
  new_release: false,
  new_note: false,
  new_issue: false,
  reopen_issue: false,
  close_issue: false,
  reassign_issue: false,
  issue_due: false,
  new_merge_request: false,
  push_to_merge_request: false,
  reopen_merge_request: false,
  close_merge_request: false,
  reassign_merge_request: false,
  change_reviewer_merge_request: false,
  merge_merge_request: false,
  merge_when_pipeline_succeeds: false,
  failed_pipeline: true,
  fixed_pipeline: true,
  success_pipeline: false,
  moved_project: false,
}
export type CustomEvent = keyof typeof CUSTOM_EVENTS
export type CustomEvents = { [event in CustomEvent]: boolean }
