import type { Generated } from 'kysely'
import type { Visibility } from '../../../lib/levels.ts'

export const IMPORT_STATUSES = ['none', 'scheduled', 'started', 'finished', 'failed'] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]
export const GIT_STRATEGIES = ['fetch', 'clone'] as const
export const AUTO_DEVOPS_STRATEGIES = ['continuous', 'manual', 'timed_incremental'] as const
/** Statuses while the repository is still being filled. */
export const PROVISIONING: readonly ImportStatus[] = ['scheduled', 'started']

declare module '../../../store/database.ts' {
  interface Tables {
    projects: {
      id: Generated<number>
      namespace_id: number
      name: string
      path: string
      description: string | null
      visibility: Visibility
      archived: boolean
      /** The project is in the bin, or a background job is deleting it. Only its owners see it, and only in the bin. */
      deleting: boolean
      /** Set while the project is in the bin: it was deleted by itself and can be restored until it is due. */
      marked_for_deletion_at: string | null
      deletion_due_at: string | null
      deleted_by_id: number | null
      /** The name and the path before the deletion, which made both free. They stay when the time is over. */
      deleted_name: string | null
      deleted_path: string | null
      /** The group in the bin that the project was deleted with. */
      deleted_with_group_id: number | null
      creator_id: number | null
      forked_from_id: number | null
      disk_path: string
      repository_storage: string
      /** The target of HEAD, even if that branch does not exist yet. */
      default_branch: string
      empty_repo: boolean
      /** In the root folder of the default branch. */
      readme_path: string | null
      /** In the root folder of the default branch. Shown if there is no avatar. */
      logo_path: string | null
      repository_access_level: number
      issues_access_level: number
      merge_requests_access_level: number
      builds_access_level: number
      wiki_access_level: number
      snippets_access_level: number
      forking_access_level: number
      container_registry_access_level: number
      resolve_outdated_diff_discussions: boolean
      shared_runners_enabled: boolean
      public_jobs: boolean
      only_allow_merge_if_pipeline_succeeds: boolean
      only_allow_merge_if_all_discussions_are_resolved: boolean
      printing_merge_requests_link_enabled: boolean
      lfs_enabled: boolean
      request_access_enabled: boolean
      remove_source_branch_after_merge: boolean
      merge_method: 'merge' | 'rebase_merge' | 'ff'
      squash_option: 'never' | 'always' | 'default_on' | 'default_off'
      approvals_before_merge: number
      ci_config_path: string | null
      autoclose_referenced_issues: Generated<boolean>
      allow_merge_on_skipped_pipeline: Generated<boolean>
      suggestion_commit_message: string | null
      merge_commit_template: string | null
      squash_commit_template: string | null
      packages_enabled: Generated<boolean>
      pages_access_level: Generated<number>
      emails_disabled: Generated<boolean>
      /** In seconds. */
      build_timeout: Generated<number>
      build_git_strategy: Generated<(typeof GIT_STRATEGIES)[number]>
      /** Null: the full history. */
      ci_default_git_depth: Generated<number | null>
      auto_cancel_pending_pipelines: Generated<'disabled' | 'enabled'>
      /** Whether pipelines of merge requests run on the result of a trial merge. */
      merge_pipelines_enabled: Generated<boolean>
      /** Whether the newest successful pipeline of a ref keeps its artifacts past their expiry. */
      keep_latest_artifact: Generated<boolean>
      auto_devops_enabled: Generated<boolean>
      auto_devops_deploy_strategy: Generated<(typeof AUTO_DEVOPS_STRATEGIES)[number]>
      /** Whether job tokens need an allowlist entry to access the project. */
      job_token_scope_enabled: Generated<boolean>
      /** JSON. Null until a user has set a field. */
      container_expiration_policy: string | null
      avatar_digest: string | null
      avatar_filename: string | null
      avatar_type: string | null
      runners_token_digest: string
      runners_token_sealed: string
      import_url: string | null
      import_credentials_sealed: string | null
      import_status: ImportStatus
      import_error: string | null
      import_progress: number | null
      star_count: Generated<number>
      forks_count: Generated<number>
      commit_count: Generated<number>
      repository_size: Generated<number>
      lfs_objects_size: Generated<number>
      housekeeping_at: string | null
      pushes_since_housekeeping: Generated<number>
      /** The pool that the project shares with its forks or its source. */
      pool_id: number | null
      /** Incremented by every update (`store/versions.ts`). */
      version: Generated<number>
      last_activity_at: string
      created_at: string
      updated_at: string
    }
    project_topics: { project_id: number; name: string; position: number }
    redirects: {
      id: Generated<number>
      path: string
      namespace_id: number | null
      project_id: number | null
      created_at: string
    }
  }
  interface Events {
    'project.created': { id: number; by: number }
    /** The repository of a fork or an import is complete. */
    'project.filled': { id: number }
    'project.updated': { id: number; by: number; old_path?: string }
    /** `owner_added`: the owner of the new namespace became a member. */
    'project.transferred': { id: number; by: number; old_path: string; owner_added?: true }
    'project.deleted': ProjectRemoved
    /** The project came back from the bin. */
    'project.restored': { id: number; by: number }
    /** The rows of a project that was in the bin are deleted. */
    'project.purged': { id: number }
  }
}

/** Facts from the row, which is deleted by the time subscribers run. */
export interface ProjectRemoved {
  id: number
  name: string
  path: string
  path_with_namespace: string
  namespace_id: number
  /** Null for a personal project. */
  group_id: number | null
  visibility: Visibility
  created_at: string
  updated_at: string
  /** Absent if the project was deleted together with its group or its owner. */
  by?: number
  /** The project can still be restored. */
  in_bin?: true
}
