import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { BRANCH_FILTER_STRATEGIES, HOOK_SWITCHES, type HookSwitch } from './model.ts'

const switches = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, z.boolean()])) as Record<
  HookSwitch,
  z.ZodBoolean
>

export const HookEntity = entity({
  id: z.int(),
  project_id: z.int(),
  url: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  ...switches,
  repository_update_events: z.boolean(),
  enable_ssl_verification: z.boolean(),
  push_events_branch_filter: z.string(),
  branch_filter_strategy: z.enum(BRANCH_FILTER_STRATEGIES),
  alert_status: z.enum(['executable']),
  disabled_until: timestampOut.nullable(),
  created_at: timestampOut,
}).meta({ id: 'ProjectHook' })

const switchesOf = (hook: Row<'project_hooks'>) =>
  Object.fromEntries(HOOK_SWITCHES.map((name) => [name, hook[name]])) as Record<HookSwitch, boolean>

/** Everything but the token, which only the receiver is shown. */
export function presentHook(hook: Row<'project_hooks'>): z.infer<typeof HookEntity> {
  return {
    id: hook.id,
    project_id: hook.project_id,
    url: hook.url,
    name: hook.name,
    description: hook.description,
    ...switchesOf(hook),
    repository_update_events: false, // an event of the instance, never of a project
    enable_ssl_verification: hook.enable_ssl_verification,
    push_events_branch_filter: hook.push_events_branch_filter,
    branch_filter_strategy: hook.branch_filter_strategy,
    alert_status: 'executable',
    disabled_until: null,
    created_at: hook.created_at,
  }
}
