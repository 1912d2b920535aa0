import type { Generated } from 'kysely'

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

export type HookSwitch = (typeof HOOK_SWITCHES)[number]

/** How `push_events_branch_filter` is read. */
export const BRANCH_FILTER_STRATEGIES = ['wildcard', 'regex', 'all_branches'] as const

export type BranchFilterStrategy = (typeof BRANCH_FILTER_STRATEGIES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    project_hooks: Record<HookSwitch, boolean> & {
      id: Generated<number>
      project_id: number
      url: string
      name: string | null
      description: string | null
      token_sealed: string | null
      enable_ssl_verification: boolean
      push_events_branch_filter: string
      branch_filter_strategy: BranchFilterStrategy
      created_at: string
      updated_at: string
    }
  }
}
