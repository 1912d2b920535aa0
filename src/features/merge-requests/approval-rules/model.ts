import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export type RuleType = 'regular' | 'any_approver' | 'code_owner'

declare module '../../../store/database.ts' {
  interface Tables {
    approval_rules: {
      id: Generated<number>
      project_id: number
      /** Null: the rule applies to all merge requests of the project. */
      merge_request_id: number | null
      /** The rule of the project that this one is a copy of. */
      source_rule_id: number | null
      rule_type: RuleType
      /** For a code owner rule, the pattern. */
      name: string
      /** Only for code owner rules. */
      section: string | null
      approvals_required: number
      applies_to_all_protected_branches: Generated<boolean>
      created_at: string
      updated_at: string
    }
    approval_rule_users: { rule_id: number; user_id: number }
    /** Direct members of these groups may approve. */
    approval_rule_groups: { rule_id: number; group_id: number }
    /** The rule applies to merge requests into these branches. No rows: to all branches. */
    approval_rule_branches: { rule_id: number; protected_branch_id: number }
  }
}

export type ApprovalRule = Row<'approval_rules'>
