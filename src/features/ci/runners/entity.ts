import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { JobRunnerEntity, contactOf, presentJobRunner } from '../jobs/entity.ts'
import { RUNNER_ACCESS_LEVELS, type Runner, type RunnerManager } from './model.ts'

export const RunnerEntity = JobRunnerEntity

export const RunnerDetailsEntity = entity({
  ...JobRunnerEntity.shape,
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
  status: z.enum(['online', 'offline', 'never_contacted', 'stale']),
}).meta({ id: 'RunnerManager' })

export interface Belonging {
  readonly projects: readonly (Pick<Row<'projects'>, 'id' | 'name' | 'path'> &
    Pick<Row<'namespaces'>, 'full_name' | 'full_path'>)[]
  readonly groups: readonly { readonly id: number; readonly name: string; readonly full_path: string }[]
}

export function presentRunner(
  runner: Runner,
  { projects, groups }: Belonging,
  { now, url }: { now: string; url: string },
): z.infer<typeof RunnerDetailsEntity> {
  return {
    ...presentJobRunner(runner, now),
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
