import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    namespaces: {
      id: Generated<number>
      kind: 'user' | 'group'
      name: string
      path: string
      /** Unique in any case, over users and groups alike. */
      full_path: string
      parent_id: number | null
      owner_id: number | null
      created_at: string
      updated_at: string
    }
  }
}
