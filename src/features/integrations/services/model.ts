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

/** What services are told of. */
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
      /** Exactly one of the two is given. */
      project_id: number | null
      group_id: number | null
      slug: string
      active: boolean
      /** Has nothing of its own: the nearest group's counts. */
      inherits: boolean
      /** As JSON, without what is secret. */
      properties: string
      /** The rest, as JSON. */
      secrets_sealed: string | null
      created_at: string
      updated_at: string
    }
  }
}

export type ServiceRow = Row<'services'>
