import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { ListedPipelineEntity, type ListedPipelineRecord } from '../pipelines/entity.ts'
import { VARIABLE_TYPES } from '../variables/model.ts'
import { inputsOf, type Schedule, type ScheduleVariable } from './model.ts'

const listed = {
  id: z.int(),
  description: z.string(),
  ref: z.string(),
  cron: z.string(),
  cron_timezone: z.string(),
  next_run_at: timestampOut.nullable(),
  active: z.boolean(),
  created_at: timestampOut,
  updated_at: timestampOut,
  owner: UserSummaryEntity.nullable(),
}

export const ListedScheduleEntity = entity(listed).meta({ id: 'ListedPipelineSchedule' })

export const ScheduleVariableEntity = entity({
  key: z.string(),
  variable_type: z.enum(VARIABLE_TYPES),
  value: z.string(),
  raw: z.boolean(),
}).meta({ id: 'PipelineScheduleVariable' })

const ScheduleInputEntity = entity({ name: z.string(), value: z.unknown() }).meta({ id: 'PipelineScheduleInput' })

export const ScheduleEntity = entity({
  ...listed,
  last_pipeline: ListedPipelineEntity.nullable(),
  /** Only for callers who may edit the schedule. */
  variables: z.array(ScheduleVariableEntity).optional(),
  inputs: z.array(ScheduleInputEntity).optional(),
}).meta({ id: 'PipelineSchedule' })

export interface LoadedSchedule extends Schedule {
  readonly owner: User | null
}

export function presentListedSchedule(
  schedule: LoadedSchedule,
  around: Surroundings,
): z.infer<typeof ListedScheduleEntity> {
  return {
    id: schedule.id,
    description: schedule.description,
    ref: schedule.ref,
    cron: schedule.cron,
    cron_timezone: schedule.cron_timezone,
    next_run_at: schedule.next_run_at,
    active: schedule.active,
    created_at: schedule.created_at,
    updated_at: schedule.updated_at,
    owner: schedule.owner && presentUserSummary(schedule.owner, around),
  }
}

export function presentScheduleVariable(
  { vault }: App,
  { key, variable_type, value_sealed, raw }: ScheduleVariable,
): z.infer<typeof ScheduleVariableEntity> {
  return { key, variable_type, value: vault.open(value_sealed), raw }
}

export function presentSchedule(
  app: App,
  schedule: LoadedSchedule,
  around: Surroundings,
  more: { last: ListedPipelineRecord | null; variables: readonly ScheduleVariable[] | null },
): z.infer<typeof ScheduleEntity> {
  return {
    ...presentListedSchedule(schedule, around),
    last_pipeline: more.last,
    ...(more.variables && {
      variables: more.variables.map((one) => presentScheduleVariable(app, one)),
      inputs: Object.entries(inputsOf(schedule)).map(([name, value]) => ({ name, value })),
    }),
  }
}
