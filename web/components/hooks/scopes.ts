/**
 * Webhooks of projects, groups and the instance: the same calls with three prefixes, under the names that pages use.
 */
import { groupSettingsFrame, adminFrame, projectSettingsFrame } from '../../layout/settings.tsx'
import type { Drawn, Frame } from '../../page.ts'

export type HookScope = 'project' | 'group' | 'instance'

interface Scope {
  readonly frame: Frame
  /** The URL of the page with its hooks. */
  address(params: Drawn['params']): string
  readonly events: readonly string[]
}

const OF_PROJECT = [
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
  'emoji_events',
  'resource_access_token_events',
]

export const HOOK_SCOPES: Record<HookScope, Scope> = {
  project: { frame: projectSettingsFrame, address: ({ id }) => `/${id}/-/hooks`, events: OF_PROJECT },
  group: {
    frame: groupSettingsFrame,
    address: ({ id }) => `/groups/${id}/-/hooks`,
    events: [...OF_PROJECT, 'subgroup_events', 'member_events', 'project_events'],
  },
  instance: {
    frame: adminFrame,
    address: () => '/admin/hooks',
    events: ['push_events', 'tag_push_events', 'merge_requests_events', 'repository_update_events'],
  },
}

/** The paths of the project stand for all three: only the prefix differs. */
export function pathsOf(scope: HookScope) {
  const before = scope === 'instance' ? '' : `/${scope}s/{id}`
  return {
    all: `${before}/hooks` as '/projects/{id}/hooks',
    one: `${before}/hooks/{hook_id}` as '/projects/{id}/hooks/{hook_id}',
    events: `${before}/hooks/{hook_id}/events` as '/projects/{id}/hooks/{hook_id}/events',
    event: `${before}/hooks/{hook_id}/events/{hook_log_id}` as '/projects/{id}/hooks/{hook_id}/events/{hook_log_id}',
    resend:
      `${before}/hooks/{hook_id}/events/{hook_log_id}/resend` as '/projects/{id}/hooks/{hook_id}/events/{hook_log_id}/resend',
    header: `${before}/hooks/{hook_id}/custom_headers/{key}` as '/projects/{id}/hooks/{hook_id}/custom_headers/{key}',
    variable: `${before}/hooks/{hook_id}/url_variables/{key}` as '/projects/{id}/hooks/{hook_id}/url_variables/{key}',
    replay: `${before}/hooks/{hook_id}/replay` as '/projects/{id}/hooks/{hook_id}/replay',
  }
}

/** The instance has no id. */
export const idOf = ({ id }: Drawn['params']) => (id === undefined ? {} : { id }) as { id: string }

export const eventName = (name: string) => name.replace(/_events$/, '').replaceAll('_', ' ')
