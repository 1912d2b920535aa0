import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Whose commits a merge request brings. */
    merge_request_committers: { merge_request_id: number; user_id: number }
    /** Of which commits and which file its committers and code owners were found. */
    merge_request_ownership: {
      merge_request_id: number
      head_sha: string | null
      base_sha: string | null
      file_id: string | null
      /** More commits than were looked at: anybody may be among their committers. */
      overflow: Generated<boolean>
    }
  }
}
