import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    pools: {
      id: Generated<number>
      disk_path: string
      repository_storage: string
      /** The project whose objects fill the pool. */
      source_id: number | null
      created_at: string
    }
  }
  interface Events {
    /** The project is no longer a fork. */
    'project.unlinked': { id: number; source_id: number; by: number }
  }
}
