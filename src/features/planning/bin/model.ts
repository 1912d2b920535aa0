import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const BIN_KEYS = ['issue', 'merge_request', 'label', 'milestone'] as const
export type BinKey = (typeof BIN_KEYS)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    /** Records that were deleted and can be restored. A record of a project or of a group. */
    deleted_items: {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      kind: BinKey
      /** The id that the record had, and will have again. */
      record_id: number
      iid: number | null
      title: string
      /** Its rows leave their tables, are in the bin, return, or are deleted permanently. */
      state: 'taking' | 'kept' | 'restoring' | 'purging'
      deleted_by_id: number | null
      deleted_at: string
      due_at: string
    }
    /** Rows of deleted records: a `Part` as JSON. */
    deleted_parts: { id: Generated<number>; deleted_item_id: number; content: string }
  }
}

export type DeletedItem = Row<'deleted_items'>
