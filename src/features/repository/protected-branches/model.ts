import type { Generated } from 'kysely'

export type BranchAbility = 'push' | 'merge' | 'unprotect'
export type Ability = BranchAbility | 'create'

/** The allowed principal: a level, or one user, group or deploy key. Exactly one is set. */
interface Level {
  id: Generated<number>
  rule_id: number
  access_level: number | null
  user_id: number | null
  group_id: number | null
  deploy_key_id: number | null
}

interface Rule {
  id: Generated<number>
  project_id: number
  /** A name, or a pattern with `*`. */
  name: string
  allow_force_push: Generated<boolean>
  code_owner_approval_required: Generated<boolean>
  created_at: string
  updated_at: string
}

declare module '../../../store/database.ts' {
  interface Tables {
    protected_branches: Rule
    protected_branch_levels: Level & { ability: Ability }
    protected_tags: Rule
    protected_tag_levels: Level & { ability: Ability }
  }
}
