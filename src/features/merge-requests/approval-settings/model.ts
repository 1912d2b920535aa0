import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Of projects that chose; all others have the usual ones. */
    approval_settings: {
      project_id: number
      /** Unless the changes are the same as before. */
      reset_approvals_on_push: Generated<boolean>
      /** Merge requests have no rules of their own. */
      disable_overriding_approvers_per_merge_request: Generated<boolean>
      /** Whether authors may approve what is theirs. */
      merge_requests_author_approval: Generated<boolean>
      /** Whether those whose commits it brings may not. */
      merge_requests_disable_committers_approval: Generated<boolean>
      require_password_to_approve: Generated<boolean>
    }
  }
}

export type ApprovalSettings = Omit<Row<'approval_settings'>, 'project_id'>

export const USUAL_SETTINGS: ApprovalSettings = {
  reset_approvals_on_push: true,
  disable_overriding_approvers_per_merge_request: false,
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: false,
  require_password_to_approve: false,
}
