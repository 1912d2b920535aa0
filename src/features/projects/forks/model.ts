import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    pools: {
      id: Generated<number>
      disk_path: string
      repository_storage: string
      /** Whose objects it is filled from. */
      source_id: number | null
      created_at: string
    }
  }
  interface Events {
    /** It is a fork no more. */
    'project.unlinked': { id: number; source_id: number; by: number }
  }
}
