import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { DAY, HOUR } from '../../../clock.ts'
import type { Row } from '../../../store/database.ts'
import { RUNNER_ACCESS_LEVELS, RUNNER_STATUSES, RUNNER_TYPES, type Runner, type RunnerManager } from './model.ts'

export const RunnerEntity = entity({
  id: z.int(),
  description: z.string().nullable(),
  ip_address: z.string().nullable(),
  active: z.boolean(),
  paused: z.boolean(),
  is_shared: z.boolean(),
  runner_type: z.enum(RUNNER_TYPES),
  name: z.string().nullable(),
  online: z.boolean().nullable(),
  status: z.enum(RUNNER_STATUSES),
}).meta({ id: 'Runner' })

export const RunnerDetailsEntity = entity({
  ...RunnerEntity.shape,
  tag_list: z.array(z.string()),
  run_untagged: z.boolean(),
  locked: z.boolean(),
  access_level: z.enum(RUNNER_ACCESS_LEVELS),
  maximum_timeout: z.int().nullable(),
  maintenance_note: z.string().nullable(),
  version: z.string().nullable(),
  revision: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  contacted_at: timestampOut.nullable(),
  projects: z.array(
    entity({
      id: z.int(),
      name: z.string(),
      name_with_namespace: z.string(),
      path: z.string(),
      path_with_namespace: z.string(),
    }),
  ),
  groups: z.array(entity({ id: z.int(), name: z.string(), web_url: z.string() })),
}).meta({ id: 'RunnerDetails' })

export const ManagerEntity = entity({
  id: z.int(),
  system_id: z.string(),
  version: z.string().nullable(),
  revision: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  created_at: timestampOut,
  contacted_at: timestampOut.nullable(),
  ip_address: z.string().nullable(),
  status: z.enum(RUNNER_STATUSES),
}).meta({ id: 'RunnerManager' })

export interface RunnerScopes {
  readonly projects: readonly (Pick<Row<'projects'>, 'id' | 'name' | 'path'> &
    Pick<Row<'namespaces'>, 'full_name' | 'full_path'>)[]
  readonly groups: readonly { readonly id: number; readonly name: string; readonly full_path: string }[]
}

export const ONLINE_FOR = 2 * HOUR
export const STALE_AFTER = 7 * DAY

/** The status that follows from the last contact. */
function contactOf(
  { contacted_at, created_at }: Pick<Runner, 'contacted_at' | 'created_at'>,
  now: string,
): (typeof RUNNER_STATUSES)[number] {
  const age = (at: string) => Date.parse(now) - Date.parse(at)
  if (contacted_at !== null && age(contacted_at) <= ONLINE_FOR) return 'online'
  if (age(contacted_at ?? created_at) > STALE_AFTER && age(created_at) > STALE_AFTER) return 'stale'
  return contacted_at === null ? 'never_contacted' : 'offline'
}

export function presentRunner(runner: Runner, now: string): z.infer<typeof RunnerEntity> {
  const status = contactOf(runner, now)
  return {
    id: runner.id,
    description: runner.description,
    ip_address: runner.ip_address,
    active: runner.active,
    paused: !runner.active,
    is_shared: runner.runner_type === 'instance_type',
    runner_type: runner.runner_type,
    name: runner.name,
    online: runner.contacted_at === null ? null : status === 'online',
    status,
  }
}

export function presentRunnerDetails(
  runner: Runner,
  { projects, groups }: RunnerScopes,
  { now, url }: { now: string; url: string },
): z.infer<typeof RunnerDetailsEntity> {
  return {
    ...presentRunner(runner, now),
    tag_list: JSON.parse(runner.tags) as string[],
    run_untagged: runner.run_untagged,
    locked: runner.locked,
    access_level: runner.access_level,
    maximum_timeout: runner.maximum_timeout,
    maintenance_note: runner.maintenance_note,
    version: runner.version_name,
    revision: runner.revision,
    platform: runner.platform,
    architecture: runner.architecture,
    contacted_at: runner.contacted_at,
    projects: projects.map(({ id, name, path, full_name, full_path }) => ({
      id,
      name,
      name_with_namespace: `${full_name} / ${name}`,
      path,
      path_with_namespace: `${full_path}/${path}`,
    })),
    groups: groups.map(({ id, name, full_path }) => ({ id, name, web_url: `${url}/groups/${full_path}` })),
  }
}

export function presentManager(manager: RunnerManager, now: string): z.infer<typeof ManagerEntity> {
  return {
    id: manager.id,
    system_id: manager.system_id,
    version: manager.version_name,
    revision: manager.revision,
    platform: manager.platform,
    architecture: manager.architecture,
    created_at: manager.created_at,
    contacted_at: manager.contacted_at,
    ip_address: manager.ip_address,
    status: contactOf(manager, now),
  }
}
