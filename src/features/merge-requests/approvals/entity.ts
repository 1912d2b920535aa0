import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { PublicGroupEntity, presentPublicGroup } from '../../groups/groups/entity.ts'
import type { Group } from '../../groups/groups/queries.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { JudgedRuleEntity } from '../approval-rules/entity.ts'
import type { ApprovalSettings } from '../approval-settings/model.ts'
import { mergeStatus, type MergeFacts } from '../mergeability/gates.ts'
import { mergeRequestSummary, presentMergeRequestSummary } from '../merge-requests/entity.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

export const ApprovalsEntity = entity({
  ...mergeRequestSummary,
  merge_status: z.enum(['unchecked', 'can_be_merged', 'cannot_be_merged']),
  approved: z.boolean(),
  approvals_required: z.int(),
  /** One value under an older and a newer name. */
  approvals_left: z.int(),
  approvals_missing: z.int(),
  require_password_to_approve: z.boolean(),
  approved_by: z.array(entity({ user: UserSummaryEntity, approved_at: timestampOut })),
  suggested_approvers: z.array(UserSummaryEntity),
  approvers: z.array(entity({ user: UserSummaryEntity })),
  approver_groups: z.array(entity({ group: PublicGroupEntity })),
  user_has_approved: z.boolean(),
  user_can_approve: z.boolean(),
  approval_rules_left: z.array(
    entity({ id: z.int().nullable(), name: z.string(), rule_type: z.string(), report_type: z.null() }),
  ),
  has_approval_rules: z.boolean(),
  merge_request_approvers_available: z.boolean(),
  multiple_approval_rules_available: z.boolean(),
  /** Rules that require more approvals than they have approvers. */
  invalid_approvers_rules: z.array(entity({ id: z.int(), name: z.string(), rule_type: z.string() })),
}).meta({ id: 'MergeRequestApprovals' })

export const ApprovalStateEntity = entity({
  approval_rules_overwritten: z.boolean(),
  rules: z.array(JudgedRuleEntity),
}).meta({ id: 'MergeRequestApprovalState' })

export interface LoadedApprovals {
  readonly one: MergeRequest
  readonly facts: MergeFacts
  readonly settings: ApprovalSettings
  readonly approvals: readonly { readonly user: User; readonly created_at: string }[]
  readonly rulesLeft: readonly { readonly id: number | null; readonly name: string; readonly rule_type: string }[]
  readonly invalid: readonly { readonly id: number; readonly name: string; readonly rule_type: string }[]
  readonly suggested: readonly User[]
  readonly approvers: readonly User[]
  readonly groups: readonly Group[]
  readonly hasRules: boolean
  readonly hasApproved: boolean
  readonly canApprove: boolean
}

export function presentApprovals(loaded: LoadedApprovals, around: Surroundings): z.infer<typeof ApprovalsEntity> {
  const { one, facts, settings } = loaded
  const { required, left } = facts.approvals
  const summary = (user: User) => presentUserSummary(user, around)
  return {
    ...presentMergeRequestSummary(one),
    merge_status: mergeStatus(facts),
    approved: left === 0,
    approvals_required: required,
    approvals_left: left,
    approvals_missing: left,
    require_password_to_approve: settings.require_password_to_approve,
    approved_by: loaded.approvals.map(({ user, created_at }) => ({ user: summary(user), approved_at: created_at })),
    suggested_approvers: loaded.suggested.map(summary),
    approvers: loaded.approvers.map((user) => ({ user: summary(user) })),
    approver_groups: loaded.groups.map((group) => ({ group: presentPublicGroup(group, around.url) })),
    user_has_approved: loaded.hasApproved,
    user_can_approve: loaded.canApprove,
    approval_rules_left: loaded.rulesLeft.map(({ id, name, rule_type }) => ({
      id,
      name,
      rule_type,
      report_type: null,
    })),
    has_approval_rules: loaded.hasRules,
    merge_request_approvers_available: true,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: loaded.invalid.map(({ id, name, rule_type }) => ({ id, name, rule_type })),
  }
}
