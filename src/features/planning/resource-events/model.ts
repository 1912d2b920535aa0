import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

interface Happened {
  id: Generated<number>
  issue_id: number | null
  merge_request_id: number | null
  user_id: number | null
  created_at: string
}

declare module '../../../store/database.ts' {
  interface Tables {
    resource_label_events: Happened & { label_id: number | null; action: 'add' | 'remove' }
    resource_state_events: Happened & { state: 'closed' | 'reopened' | 'merged' }
    resource_milestone_events: Happened & { milestone_id: number | null; action: 'add' | 'remove'; state: string }
  }
}

export type LabelEvent = Row<'resource_label_events'>
export type StateEvent = Row<'resource_state_events'>
export type MilestoneEvent = Row<'resource_milestone_events'>
