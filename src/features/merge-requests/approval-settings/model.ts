import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Only for projects that changed a setting; others have the defaults. */
    approval_settings: {
      project_id: number
      /** Approvals stay where the push leaves the changes identical. */
      reset_approvals_on_push: Generated<boolean>
      /** Merge requests cannot have rules of their own. */
      disable_overriding_approvers_per_merge_request: Generated<boolean>
      /** Whether authors may approve their own merge requests. */
      merge_requests_author_approval: Generated<boolean>
      /** Whether users with commits in the merge request may not approve. */
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
