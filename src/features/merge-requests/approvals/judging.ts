/** Computes the approval status of a merge request from its facts. Pure functions. */
import { matches } from '../../repository/protected-branches/matching.ts'
import type { ApprovalRule } from '../approval-rules/model.ts'

export interface ProtectedName {
  readonly id: number
  /** A name, or a pattern with `*`. */
  readonly name: string
  readonly code_owner_approval_required: boolean
}

export interface RuleFacts extends ApprovalRule {
  /** Ids of the protected branches that the rule is for. Empty: for all branches. */
  readonly branches: readonly number[]
  /** Whether the rule names any user or group. A rule without names is open to all. */
  readonly named: boolean
  /** Users who approved and whom the rule names. */
  readonly approvers: readonly number[]
  /** How many users could approve; only for code owner rules. */
  readonly eligible: number
}

export interface ApprovalFacts {
  readonly target_branch: string
  /** Required by the project, and by the merge request itself. */
  readonly usual: number
  readonly own: number | null
  /** Users whose approval counts. */
  readonly approvers: readonly number[]
  /** Rules of the project and of the merge request. */
  readonly rules: readonly RuleFacts[]
  readonly protection: readonly ProtectedName[]
}

export interface JudgedRule {
  /** Null: approvals that the project requires without a rule. */
  readonly rule: RuleFacts | null
  readonly required: number
  readonly left: number
  readonly approvers: readonly number[]
}

export interface Judgement {
  readonly required: number
  readonly left: number
  readonly rules: readonly JudgedRule[]
}

/** A merge request can only raise the number. Where the project requires none, none is required. */
export const requiredBy = (usual: number, own: number | null): number =>
  usual > 0 && own !== null && own > usual ? own : usual

/** The rules of a merge request add to those of its project: they never lower the requirement. */
export function judge({ target_branch, usual, own, approvers, rules, protection }: ApprovalFacts): Judgement {
  const matching = protection.filter(({ name }) => matches(name, target_branch))
  const applies = ({ branches, applies_to_all_protected_branches }: RuleFacts) =>
    applies_to_all_protected_branches
      ? matching.length > 0
      : branches.length === 0 || matching.some(({ id }) => branches.includes(id))
  const applying = rules.filter(applies)
  const asksOwners = matching.some((one) => one.code_owner_approval_required)
  const judged = applying.map((rule): JudgedRule => {
    const required = requiredOf(rule, asksOwners)
    const given = rule.rule_type === 'code_owner' || rule.named ? rule.approvers : approvers
    return { rule, required, left: Math.max(0, required - given.length), approvers: given }
  })
  const usually = requiredBy(usual, own)
  const anybody = judged.filter(({ rule }) => rule!.rule_type === 'any_approver')
  // Approvals by any user are required once, in the highest number that any rule asks for.
  const most = Math.max(usually, ...anybody.map(({ required }) => required))
  const named = judged.filter(({ rule }) => rule!.rule_type !== 'any_approver')
  const sum = (of: 'required' | 'left') => named.reduce((total, one) => total + one[of], 0)
  const isRequired = usually > Math.max(0, ...anybody.map(({ required }) => required))
  const unnamed: JudgedRule[] = isRequired
    ? [{ rule: null, required: usually, left: Math.max(0, usually - approvers.length), approvers }]
    : []
  return {
    required: most + sum('required'),
    left: Math.max(0, most - approvers.length) + sum('left'),
    rules: [...unnamed, ...judged],
  }
}

/**
 * Code owners are required only where the protected branch says so. A rule waits for no more approvals than its owners
 * can give: some have left, others are the author.
 */
function requiredOf({ rule_type, approvals_required, eligible }: RuleFacts, asksOwners: boolean): number {
  if (rule_type !== 'code_owner') return approvals_required
  return asksOwners ? Math.min(approvals_required, eligible) : 0
}
