import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** A share gives the members of another group access to a group and everything below it. */
    group_shares: {
      id: Generated<number>
      group_id: number
      shared_with_group_id: number
      /** The maximum level that the share gives. */
      group_access: number
      /** The share ends at the start of this day. */
      expires_at: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'group.shared': { group_id: number; shared_with_group_id: number; group_access: number; by: number }
    'group.unshared': { group_id: number; shared_with_group_id: number; by?: number }
  }
}
