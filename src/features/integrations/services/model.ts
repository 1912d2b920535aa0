import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const SERVICE_SWITCHES = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'incident_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'commit_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'comment_on_event_enabled',
] as const

export type ServiceSwitch = (typeof SERVICE_SWITCHES)[number]

/** Events that services receive. */
export type ServiceEvent =
  | 'push'
  | 'tag_push'
  | 'issue'
  | 'confidential_issue'
  | 'incident'
  | 'merge_request'
  | 'note'
  | 'confidential_note'
  | 'commit'
  | 'job'
  | 'pipeline'
  | 'wiki_page'
  | 'deployment'

export type Setting = string | number | boolean | null
export type Settings = Readonly<Record<string, Setting>>

declare module '../../../store/database.ts' {
  interface Tables {
    services: Record<ServiceSwitch, boolean> & {
      id: Generated<number>
      /** Exactly one of the two is set. */
      project_id: number | null
      group_id: number | null
      slug: string
      active: boolean
      /** Has no settings of its own: those of the nearest group apply. */
      inherits: boolean
      /** JSON of the settings that are not secret. */
      properties: string
      /** JSON of the secret settings. */
      secrets_sealed: string | null
      created_at: string
      updated_at: string
    }
  }
}

export type ServiceRow = Row<'services'>
