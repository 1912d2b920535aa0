import type { Generated } from 'kysely'
import { Developer, Master, Owner, type Visibility } from '../../../lib/levels.ts'

/** Which level lets somebody make projects in a group; administrators may in any. */
export const PROJECT_CREATION_LEVELS = {
  noone: Infinity,
  administrator: Infinity,
  owner: Owner,
  maintainer: Master,
  developer: Developer,
}
export type ProjectCreationLevel = keyof typeof PROJECT_CREATION_LEVELS

/** Which level lets somebody make groups in a group. */
export const SUBGROUP_CREATION_LEVELS = { owner: Owner, maintainer: Master }
export type SubgroupCreationLevel = keyof typeof SUBGROUP_CREATION_LEVELS

declare module '../../../store/database.ts' {
  interface Tables {
    /** A user's own, or a group. */
    namespaces: {
      id: Generated<number>
      kind: 'user' | 'group'
      name: string
      path: string
      /** Names from the top, joined by ` / `. */
      full_name: string
      /** Unique in any case, over users, groups and projects alike. */
      full_path: string
      description: Generated<string>
      visibility: Generated<Visibility>
      parent_id: number | null
      owner_id: number | null
      /** Being removed in the background, with everything inside; nobody sees it any more. */
      deleting: Generated<boolean>
      lfs_enabled: Generated<boolean>
      request_access_enabled: Generated<boolean>
      /** Projects inside can not be shared with other groups, and existing shares are void. */
      share_with_group_lock: Generated<boolean>
      /** Projects inside take no members of their own. */
      membership_lock: Generated<boolean>
      avatar_digest: string | null
      avatar_filename: string | null
      avatar_type: string | null
      shared_runners_minutes_limit: number | null
      project_creation_level: Generated<ProjectCreationLevel>
      subgroup_creation_level: Generated<SubgroupCreationLevel>
      require_two_factor_authentication: Generated<boolean>
      /** Hours. */
      two_factor_grace_period: Generated<number>
      emails_disabled: Generated<boolean>
      /** Of projects to come; null: as the instance has it. */
      auto_devops_enabled: boolean | null
      /** Raised by every update (`store/versions.ts`). */
      version: Generated<number>
      ldap_synced_at: string | null
      created_at: string
      updated_at: string
    }
    /** Each namespace with itself (depth 0) and everything above it. */
    namespace_ancestors: { namespace_id: number; ancestor_id: number; depth: number }
  }
}
