import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** The versions of a merge request, one per push. */
    merge_request_versions: {
      id: Generated<number>
      merge_request_id: number
      head_sha: string | null
      base_sha: string | null
      start_sha: string | null
      /** The number of changed files, up to the limit of a diff. */
      files: number
      overflow: Generated<boolean>
      /** Identifies the changes, independent of line numbers. */
      patch_id: string | null
      created_at: string
    }
    /** The newest commits of the newest version, up to the limit of one push. */
    merge_request_commits: { merge_request_id: number; sha: string }
  }
}

export type Version = Row<'merge_request_versions'>
