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

/** A deploy key together with its link to one project. */
export interface EnabledKey extends Row<'keys'> {
  readonly can_push: boolean
  /** When the link changed last. The key itself has its own time. */
  readonly linked_at: string
}
