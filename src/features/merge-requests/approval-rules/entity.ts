import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { PublicGroupEntity, presentPublicGroup } from '../../groups/groups/entity.ts'
import type { Group } from '../../groups/groups/queries.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { ProtectedBranchEntity, presentProtectedBranch } from '../../repository/protected-branches/entity.ts'
import type { LoadedRule as ProtectedRule } from '../../repository/protected-branches/matching.ts'
import type { ApprovalRule } from './model.ts'

const shared = {
  id: z.int(),
  name: z.string(),
  rule_type: z.enum(['regular', 'any_approver', 'code_owner']),
  report_type: z.null(),
  eligible_approvers: z.array(UserSummaryEntity),
  approvals_required: z.int(),
  users: z.array(UserSummaryEntity),
  groups: z.array(PublicGroupEntity),
  /** Whether the rule names groups that the caller may not see. */
  contains_hidden_groups: z.boolean(),
}

export const ProjectRuleEntity = entity({
  ...shared,
  applies_to_all_protected_branches: z.boolean(),
  protected_branches: z.array(ProtectedBranchEntity),
}).meta({ id: 'ProjectApprovalRule' })

export const MergeRequestRuleEntity = entity({
  ...shared,
  section: z.string().nullable(),
  source_rule: entity({ id: z.int() }).nullable(),
  overridden: z.boolean(),
}).meta({ id: 'MergeRequestApprovalRule' })

export const JudgedRuleEntity = entity({
  ...shared,
  id: z.int().nullable(),
  section: z.string().nullable(),
  source_rule: entity({ id: z.int() }).nullable(),
  overridden: z.boolean(),
  code_owner: z.boolean(),
  approved_by: z.array(UserSummaryEntity),
  approved: z.boolean(),
}).meta({ id: 'ApprovalRuleState' })

export interface LoadedRule extends ApprovalRule {
  readonly users: readonly User[]
  /** Groups that the viewer may see. */
  readonly groups: readonly Group[]
  readonly hasHidden: boolean
  readonly eligible: readonly User[]
  readonly branches: readonly ProtectedRule[]
}

const presentShared = (rule: LoadedRule, around: Surroundings) => {
  const people = (some: readonly User[]) => some.map((user) => presentUserSummary(user, around))
  return {
    id: rule.id,
    name: rule.name,
    rule_type: rule.rule_type,
    report_type: null,
    eligible_approvers: people(rule.eligible),
    approvals_required: rule.approvals_required,
    users: people(rule.users),
    groups: rule.groups.map((group) => presentPublicGroup(group, around.url)),
    contains_hidden_groups: rule.hasHidden,
  }
}

export const presentProjectRule = (rule: LoadedRule, around: Surroundings): z.infer<typeof ProjectRuleEntity> => ({
  ...presentShared(rule, around),
  applies_to_all_protected_branches: rule.applies_to_all_protected_branches,
  protected_branches: rule.branches.map(presentProtectedBranch),
})

/** The rules of the project apply as well. */
const ofMergeRequest = ({ section, source_rule_id }: ApprovalRule) => ({
  section,
  source_rule: source_rule_id === null ? null : { id: source_rule_id },
  overridden: false,
})

export const presentMergeRequestRule = (
  rule: LoadedRule,
  around: Surroundings,
): z.infer<typeof MergeRequestRuleEntity> => ({ ...presentShared(rule, around), ...ofMergeRequest(rule) })

export interface RuleState {
  readonly required: number
  readonly left: number
  readonly approvers: readonly User[]
}

export function presentRuleState(
  rule: LoadedRule | null,
  { required, left, approvers }: RuleState,
  around: Surroundings,
): z.infer<typeof JudgedRuleEntity> {
  const state = {
    approvals_required: required,
    code_owner: rule?.rule_type === 'code_owner',
    approved_by: approvers.map((user) => presentUserSummary(user, around)),
    approved: left === 0,
  }
  if (rule) return { ...presentShared(rule, around), ...ofMergeRequest(rule), ...state }
  return { ...ANYBODY, ...state }
}

/** The entry for approvals that the project requires without a rule. */
const ANYBODY = {
  id: null,
  name: 'All Members',
  rule_type: 'any_approver' as const,
  report_type: null,
  eligible_approvers: [],
  users: [],
  groups: [],
  contains_hidden_groups: false,
  section: null,
  source_rule: null,
  overridden: false,
}
