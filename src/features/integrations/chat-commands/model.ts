import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Links a chat user to an account, for one service only: the owner of another service could claim any identity. */
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
