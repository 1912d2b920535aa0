import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** `oid` is the digest under which the blob store keeps the content. */
    lfs_objects: { id: Generated<number>; oid: string; size: number; created_at: string }
    lfs_object_projects: { lfs_object_id: number; project_id: number }
    lfs_locks: { id: Generated<number>; project_id: number; path: string; user_id: number; locked_at: string }
  }
}
