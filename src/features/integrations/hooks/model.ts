import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const HOOK_SWITCHES = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'releases_events',
  'feature_flag_events',
  'emoji_events',
  'resource_access_token_events',
  'vulnerability_events',
] as const

/** Switches that only group hooks have. */
export const GROUP_SWITCHES = ['subgroup_events', 'member_events', 'project_events'] as const

/** Switches of system hooks. These always receive events about users, groups and projects. */
export const SYSTEM_SWITCHES = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
] as const

export type HookSwitch = (typeof HOOK_SWITCHES)[number]
export type AnySwitch = HookSwitch | (typeof GROUP_SWITCHES)[number] | (typeof SYSTEM_SWITCHES)[number]

/** The scope of a hook. */
export type HookKind = 'project' | 'group' | 'instance'

export const SWITCHES = {
  project: HOOK_SWITCHES,
  group: [...HOOK_SWITCHES, ...GROUP_SWITCHES],
  instance: SYSTEM_SWITCHES,
} as const satisfies Record<HookKind, readonly AnySwitch[]>

/** How `push_events_branch_filter` is read. */
export const BRANCH_FILTER_STRATEGIES = ['wildcard', 'regex', 'all_branches'] as const

export type BranchFilterStrategy = (typeof BRANCH_FILTER_STRATEGIES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    /** The scope is a project, a group or the instance (both ids null). */
    hooks: { [name in AnySwitch]: Generated<boolean> } & {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      url: string
      name: string | null
      description: string | null
      token_sealed: string | null
      /** Key of the request signature. */
      signing_token_sealed: string | null
      url_variables_sealed: string | null
      custom_headers_sealed: string | null
      custom_webhook_template: string | null
      enable_ssl_verification: boolean
      push_events_branch_filter: string
      branch_filter_strategy: BranchFilterStrategy
      /** Consecutive failures. */
      failures: Generated<number>
      disabled_until: Generated<string | null>
      created_at: string
      updated_at: string
    }
  }
}

export type Hook = Row<'hooks'>

export const kindOf = ({ project_id, group_id }: Pick<Hook, 'project_id' | 'group_id'>): HookKind =>
  project_id !== null ? 'project' : group_id !== null ? 'group' : 'instance'
