import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    deploy_key_projects: {
      id: Generated<number>
      key_id: number
      project_id: number
      can_push: boolean
      created_at: string
      updated_at: string
    }
  }
}

/** A deploy key as one project has it. */
export interface EnabledKey extends Row<'keys'> {
  readonly can_push: boolean
  /** When the link last changed, not the key. */
  readonly linked_at: string
}
