import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Shares with a group in the bin, and with groups below it: of a project or of a group. */
    deleted_shares: {
      id: Generated<number>
      bin_id: number
      project_id: number | null
      group_id: number | null
      shared_with_group_id: number
      group_access: number
      expires_at: string | null
      created_at: string
    }
  }
  interface Events {
    'group.created': { id: number; by: number }
    'group.updated': { id: number; by: number; old_full_path?: string }
    'group.deleted': { id: number; name: string; full_path: string; by?: number; in_bin?: true }
    /** The group came back from the bin, with everything that was deleted with it. */
    'group.restored': { id: number; by: number }
    /** The rows of a group that was in the bin are deleted. */
    'group.purged': { id: number }
  }
}
