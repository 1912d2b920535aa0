import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    pipeline_triggers: {
      id: Generated<number>
      project_id: number
      owner_id: number | null
      token_digest: string
      token_sealed: string
      description: string
      expires_at: string | null
      last_used_at: string | null
      created_at: string
      updated_at: string
    }
  }
}

export type Trigger = Row<'pipeline_triggers'>
