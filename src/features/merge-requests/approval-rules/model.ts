import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export type RuleType = 'regular' | 'any_approver' | 'code_owner'

declare module '../../../store/database.ts' {
  interface Tables {
    approval_rules: {
      id: Generated<number>
      project_id: number
      /** Null: of all merge requests of the project. */
      merge_request_id: number | null
      /** The project's rule it began as. */
      source_rule_id: number | null
      rule_type: RuleType
      /** Of code owners, the pattern. */
      name: string
      /** Of code owners. */
      section: string | null
      approvals_required: number
      applies_to_all_protected_branches: Generated<boolean>
      created_at: string
      updated_at: string
    }
    approval_rule_users: { rule_id: number; user_id: number }
    /** Whose own members may. */
    approval_rule_groups: { rule_id: number; group_id: number }
    /** It is asked of merge requests to these alone; without any, of all. */
    approval_rule_branches: { rule_id: number; protected_branch_id: number }
  }
}

export type ApprovalRule = Row<'approval_rules'>
