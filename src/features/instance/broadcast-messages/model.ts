import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    broadcast_messages: {
      id: Generated<number>
      message: string
      starts_at: string
      ends_at: string
      color: string
      font: string
      target_path: string | null
      broadcast_type: 'banner' | 'notification'
      dismissable: boolean
      /** By comma. */
      target_access_levels: string
      theme: string
      created_at: string
      updated_at: string
    }
  }
}
