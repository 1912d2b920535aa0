import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const BROADCAST_TYPES = ['banner', 'notification'] as const
export const THEMES = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const

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
      broadcast_type: (typeof BROADCAST_TYPES)[number]
      dismissable: boolean
      /** Separated by commas. */
      target_access_levels: string
      theme: (typeof THEMES)[number]
      created_at: string
      updated_at: string
    }
  }
}

export type BroadcastMessage = Row<'broadcast_messages'>
