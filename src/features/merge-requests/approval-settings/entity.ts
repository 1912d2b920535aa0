import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { ApprovalSettings } from './model.ts'

export const ApprovalSettingsEntity = entity({
  approvals_before_merge: z.int(),
  reset_approvals_on_push: z.boolean(),
  disable_overriding_approvers_per_merge_request: z.boolean(),
  merge_requests_author_approval: z.boolean(),
  merge_requests_disable_committers_approval: z.boolean(),
  require_password_to_approve: z.boolean(),
  /** The newer name of `require_password_to_approve`. */
  require_reauthentication_to_approve: z.boolean(),
}).meta({ id: 'ProjectApprovals' })

export const presentApprovalSettings = (
  { approvals_before_merge }: { readonly approvals_before_merge: number },
  settings: ApprovalSettings,
): z.infer<typeof ApprovalSettingsEntity> => ({
  approvals_before_merge,
  reset_approvals_on_push: settings.reset_approvals_on_push,
  disable_overriding_approvers_per_merge_request: settings.disable_overriding_approvers_per_merge_request,
  merge_requests_author_approval: settings.merge_requests_author_approval,
  merge_requests_disable_committers_approval: settings.merge_requests_disable_committers_approval,
  require_password_to_approve: settings.require_password_to_approve,
  require_reauthentication_to_approve: settings.require_password_to_approve,
})
