import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** What must be merged before what. */
    merge_request_blocks: { id: Generated<number>; blocking_id: number; blocked_id: number; created_at: string }
  }
}

export type Block = Row<'merge_request_blocks'>
