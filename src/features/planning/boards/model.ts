import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Belongs to a project or to a group, never both. */
    boards: {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      name: string
      hide_backlog_list: Generated<boolean>
      hide_closed_list: Generated<boolean>
      created_at: string
      updated_at: string
    }
    board_lists: {
      id: Generated<number>
      board_id: number
      label_id: number
      /** Defines the order. Clients get the index in it, so a deleted list leaves no gap. */
      position: number
      created_at: string
      updated_at: string
    }
  }
}

export type Board = Row<'boards'>
export type BoardList = Row<'board_lists'>
