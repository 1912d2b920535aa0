/** What approvals come to: pure, over what is known of a merge request. */
import { matches } from '../../repository/protected-branches/matching.ts'
import type { ApprovalRule } from '../approval-rules/model.ts'

export interface ProtectedName {
  readonly id: number
  /** A name, or a pattern with `*`. */
  readonly name: string
  readonly code_owner_approval_required: boolean
}

export interface RuleFacts extends ApprovalRule {
  /** Ids of the protected branches it is for; none: for all branches. */
  readonly branches: readonly number[]
  /** Whether it names anybody; one that does not is for all. */
  readonly named: boolean
  /** Those who approved and are among those it names. */
  readonly approvers: readonly number[]
  /** How many could: of code owners alone. */
  readonly eligible: number
}

export interface ApprovalFacts {
  readonly target_branch: string
  /** That the project asks for, and the merge request itself. */
  readonly usual: number
  readonly own: number | null
  /** Those whose approval counts. */
  readonly approvers: readonly number[]
  /** Of the project and of the merge request. */
  readonly rules: readonly RuleFacts[]
  readonly protection: readonly ProtectedName[]
}

export interface JudgedRule {
  /** Null for what is asked of anybody, without a rule. */
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

/** Of a project that asks for none, none is asked; a request can only ask for more. */
export const requiredBy = (usual: number, own: number | null): number =>
  usual > 0 && own !== null && own > usual ? own : usual

/** Rules of a merge request come to those of its project: they only ever ask for more. */
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
  // What is asked of anybody is asked once, by whoever asks for most.
  const most = Math.max(usually, ...anybody.map(({ required }) => required))
  const named = judged.filter(({ rule }) => rule!.rule_type !== 'any_approver')
  const sum = (of: 'required' | 'left') => named.reduce((total, one) => total + one[of], 0)
  const isAsked = usually > Math.max(0, ...anybody.map(({ required }) => required))
  const unnamed: JudgedRule[] = isAsked
    ? [{ rule: null, required: usually, left: Math.max(0, usually - approvers.length), approvers }]
    : []
  return {
    required: most + sum('required'),
    left: Math.max(0, most - approvers.length) + sum('left'),
    rules: [...unnamed, ...judged],
  }
}

/** Where the branch asks for its owners. What nobody can approve is not waited for: they have left, or it is theirs. */
function requiredOf({ rule_type, approvals_required, eligible }: RuleFacts, asksOwners: boolean): number {
  if (rule_type !== 'code_owner') return approvals_required
  return asksOwners ? Math.min(approvals_required, eligible) : 0
}
