import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Every published move of a ref: pushes, force pushes, creations, deletions. */
    ref_changes: {
      id: Generated<number>
      project_id: number
      /** A ref of the project's wiki. */
      wiki: Generated<boolean>
      /** The full name. */
      ref: string
      /** Null before the creation of the ref. */
      before: string | null
      /** Null after the deletion of the ref. */
      after: string | null
      /** Null for a deploy key without a creator, and after the user was removed. */
      user_id: number | null
      created_at: string
    }
  }
}

export type RefChange = Row<'ref_changes'>
