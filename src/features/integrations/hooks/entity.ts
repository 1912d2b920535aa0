import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { withoutSecrets } from '../../../lib/net/masked-url.ts'
import { ALERT_STATUSES, alertStatusOf } from './disabling.ts'
import { BRANCH_FILTER_STRATEGIES, SWITCHES, kindOf, type AnySwitch, type Hook, type HookKind } from './model.ts'
import { openPairs, type PairKind } from './pairs.ts'

const flags = <S extends AnySwitch>(names: readonly S[]) =>
  Object.fromEntries(names.map((name) => [name, z.boolean()])) as Record<S, z.ZodBoolean>

const keys = z.array(entity({ key: z.string() }))

const shared = {
  id: z.int(),
  url: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  repository_update_events: z.boolean(),
  enable_ssl_verification: z.boolean(),
  push_events_branch_filter: z.string(),
  branch_filter_strategy: z.enum(BRANCH_FILTER_STRATEGIES),
  custom_webhook_template: z.string().nullable(),
  url_variables: keys,
  custom_headers: keys,
  alert_status: z.enum(ALERT_STATUSES),
  disabled_until: timestampOut.nullable(),
  created_at: timestampOut,
}

const ProjectHookEntity = entity({ ...shared, project_id: z.int(), ...flags(SWITCHES.project) }).meta({
  id: 'ProjectHook',
})
const GroupHookEntity = entity({ ...shared, group_id: z.int(), ...flags(SWITCHES.group) }).meta({ id: 'GroupHook' })
const SystemHookEntity = entity({ ...shared, ...flags(SWITCHES.instance) }).meta({ id: 'SystemHook' })

/** The fields of a record depend on the kind of the hook; see each schema. */
export const ENTITIES: Readonly<Record<HookKind, z.ZodType<HookRecord>>> = {
  project: ProjectHookEntity,
  group: GroupHookEntity,
  instance: SystemHookEntity,
}

export type HookRecord = z.infer<z.ZodObject<typeof shared>> & { project_id?: number; group_id?: number }

/** Never shows secrets: only the receiver gets them. `isOn`: whether failing hooks are disabled. */
export function presentHook(app: App, hook: Hook, isOn: boolean): HookRecord {
  const kind = kindOf(hook)
  const keysOf = (kind: PairKind) => openPairs(app, hook, kind).map(({ key }) => ({ key }))
  const alert_status = alertStatusOf(hook, { clock: app.clock, isOn })
  return {
    id: hook.id,
    ...(kind === 'project' && { project_id: hook.project_id! }),
    ...(kind === 'group' && { group_id: hook.group_id! }),
    // All administrators see system hooks, and none needs the secrets in the URL.
    url: kind === 'instance' ? withoutSecrets(hook.url) : hook.url,
    name: hook.name,
    description: hook.description,
    repository_update_events: false, // exists only for system hooks
    ...Object.fromEntries(SWITCHES[kind].map((name) => [name, hook[name]])),
    enable_ssl_verification: hook.enable_ssl_verification,
    push_events_branch_filter: hook.push_events_branch_filter,
    branch_filter_strategy: hook.branch_filter_strategy,
    custom_webhook_template: hook.custom_webhook_template,
    url_variables: keysOf('url_variables'),
    custom_headers: keysOf('custom_headers'),
    alert_status,
    disabled_until: alert_status === 'temporarily_disabled' ? hook.disabled_until : null,
    created_at: hook.created_at,
  }
}
