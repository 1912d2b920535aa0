import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Who somebody of a chat is here, for one service: whoever set up another could say they are anybody. */
    chat_names: {
      id: Generated<number>
      service_id: number
      user_id: number
      team_id: string
      team_domain: string | null
      chat_id: string
      chat_name: string | null
      created_at: string
      last_used_at: string | null
    }
  }
}

export type ChatName = Row<'chat_names'>
