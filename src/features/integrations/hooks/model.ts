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

/** Of hooks of groups. */
export const GROUP_SWITCHES = ['subgroup_events', 'member_events', 'project_events'] as const

/** Of hooks of the instance, which hear of people, groups and projects in any case. */
export const SYSTEM_SWITCHES = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
] as const

export type HookSwitch = (typeof HOOK_SWITCHES)[number]
export type AnySwitch = HookSwitch | (typeof GROUP_SWITCHES)[number] | (typeof SYSTEM_SWITCHES)[number]

/** Where a hook stands. */
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
    /** Of a project, of a group, or of the instance. */
    hooks: { [name in AnySwitch]: Generated<boolean> } & {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      url: string
      name: string | null
      description: string | null
      token_sealed: string | null
      /** Key of the signature. */
      signing_token_sealed: string | null
      url_variables_sealed: string | null
      custom_headers_sealed: string | null
      custom_webhook_template: string | null
      enable_ssl_verification: boolean
      push_events_branch_filter: string
      branch_filter_strategy: BranchFilterStrategy
      /** In a row. */
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
