import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Users with commits in the merge request. */
    merge_request_committers: { merge_request_id: number; user_id: number }
    /** The commits and the `CODEOWNERS` file from which committers and code owners were computed. */
    merge_request_ownership: {
      merge_request_id: number
      head_sha: string | null
      base_sha: string | null
      file_id: string | null
      /** More commits than the limit: any user may be among the committers. */
      overflow: Generated<boolean>
    }
  }
}
