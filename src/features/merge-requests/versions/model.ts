import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** What a merge request was to bring, from push to push. */
    merge_request_versions: {
      id: Generated<number>
      merge_request_id: number
      head_sha: string | null
      base_sha: string | null
      start_sha: string | null
      /** How many its changes are of; no more are counted than are shown. */
      files: number
      overflow: Generated<boolean>
      /** What its changes are, wherever they stand. */
      patch_id: string | null
      created_at: string
    }
    /** Of the newest version, the newest of them: more than are looked at in one push are not noted. */
    merge_request_commits: { merge_request_id: number; sha: string }
  }
}

export type Version = Row<'merge_request_versions'>
