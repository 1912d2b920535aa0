import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    project_shares: {
      id: Generated<number>
      project_id: number
      group_id: number
      group_access: number
      /** The share does not count on this day any more. The day before is the last. */
      expires_at: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'project.shared': { project_id: number; group_id: number; group_access: number; by: number }
    'project.unshared': { project_id: number; group_id: number; by?: number }
  }
}
