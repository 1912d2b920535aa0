import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** People of another group whom a group lets in, and so into all below it. */
    group_shares: {
      id: Generated<number>
      group_id: number
      shared_with_group_id: number
      /** The most that anybody gets by it. */
      group_access: number
      /** The last day it counts is the one before. */
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
