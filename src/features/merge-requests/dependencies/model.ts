import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** The blocking merge request must be merged before the blocked one. */
    merge_request_blocks: { id: Generated<number>; blocking_id: number; blocked_id: number; created_at: string }
  }
}

export type Block = Row<'merge_request_blocks'>
