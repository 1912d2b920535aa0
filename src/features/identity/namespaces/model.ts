import type { Generated } from 'kysely'
import { Developer, Master, Owner, type Visibility } from '../../../lib/levels.ts'

/** The level needed to create projects in a group. Administrators may create projects in any group. */
export const PROJECT_CREATION_LEVELS = {
  noone: Infinity,
  administrator: Infinity,
  owner: Owner,
  maintainer: Master,
  developer: Developer,
}
export type ProjectCreationLevel = keyof typeof PROJECT_CREATION_LEVELS

/** The level needed to create subgroups. */
export const SUBGROUP_CREATION_LEVELS = { owner: Owner, maintainer: Master }
export type SubgroupCreationLevel = keyof typeof SUBGROUP_CREATION_LEVELS

declare module '../../../store/database.ts' {
  interface Tables {
    /** A user's personal namespace, or a group. */
    namespaces: {
      id: Generated<number>
      kind: 'user' | 'group'
      name: string
      path: string
      /** Names from the top, joined by ` / `. */
      full_name: string
      /** Unique regardless of case, over users, groups and projects. */
      full_path: string
      description: Generated<string>
      visibility: Generated<Visibility>
      parent_id: number | null
      owner_id: number | null
      /** In the bin, or being deleted in the background, with everything inside; no longer visible. */
      deleting: Generated<boolean>
      /** Set while the group is in the bin: it was deleted by itself and can be restored until it is due. */
      marked_for_deletion_at: string | null
      deletion_due_at: string | null
      deleted_by_id: number | null
      /** The name and the path before the deletion, which made both free. They stay when the time is over. */
      deleted_name: string | null
      deleted_path: string | null
      /** The group in the bin that the group was deleted with. */
      deleted_with_group_id: number | null
      lfs_enabled: Generated<boolean>
      request_access_enabled: Generated<boolean>
      /** Projects inside cannot be shared with other groups, and existing shares are inactive. */
      share_with_group_lock: Generated<boolean>
      /** Projects inside cannot have direct members. */
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
      /** Default for new projects; null: the setting of the instance applies. */
      auto_devops_enabled: boolean | null
      /** Incremented by every update (`store/versions.ts`). */
      version: Generated<number>
      ldap_synced_at: string | null
      created_at: string
      updated_at: string
    }
    /** Each namespace with itself (depth 0) and all its ancestors. */
    namespace_ancestors: { namespace_id: number; ancestor_id: number; depth: number }
  }
}
