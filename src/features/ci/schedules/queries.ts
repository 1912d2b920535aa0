import type { z } from 'zod'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import type { JobStatus } from '../jobs/model.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { ciProject, presentListedPipelines } from '../pipelines/queries.ts'
import { presentListedSchedule, presentSchedule, type ListedScheduleEntity, type ScheduleEntity } from './entity.ts'
import type { Schedule, ScheduleVariable } from './model.ts'
import { schedulePolicy, schedulesPolicy, type ScheduleSubject } from './policy.ts'

export const scheduledProject = { ...ciProject, policy: schedulesPolicy }

const schedulesOf = (db: Db, project: number) =>
  db.selectFrom('pipeline_schedules').selectAll().where('project_id', '=', project)

export const schedule = child(scheduledProject, {
  name: 'Pipeline Schedule',
  key: 'schedule',
  params: { pipeline_schedule_id: id },
  policy: schedulePolicy,
  find: (app, { project }, { pipeline_schedule_id }) =>
    schedulesOf(app.db, project.id).where('id', '=', pipeline_schedule_id).executeTakeFirst(),
})

export const scheduleVariable = child(schedule, {
  name: 'Pipeline Schedule Variable',
  key: 'variable',
  params: { key: text },
  async find(app, { schedule }, { key }) {
    return variablesOf(app.db, schedule.id).where('key', '=', key).executeTakeFirst()
  },
})

const variablesOf = (db: Db, schedule: number) =>
  db.selectFrom('pipeline_schedule_variables').selectAll().where('schedule_id', '=', schedule)

export const listVariablesOf = (db: Db, schedule: number): Promise<ScheduleVariable[]> =>
  variablesOf(db, schedule).orderBy('id').execute()

export function listSchedules(
  db: Db,
  project: number,
  { active }: { active: boolean | null },
  page: PageRequest,
): Promise<Page<Schedule>> {
  const all = schedulesOf(db, project).orderBy('id', 'desc')
  return pageOfQuery(active === null ? all : all.where('active', '=', active), page)
}

const pipelinesOf = (db: Db, schedule: number) =>
  db.selectFrom('pipelines').selectAll().where('schedule_id', '=', schedule)

interface PipelinesFilter {
  readonly scope?: 'running' | 'pending' | 'finished' | null | undefined
  readonly status?: JobStatus | null | undefined
  readonly updated_before?: string | null | undefined
  readonly updated_after?: string | null | undefined
  readonly created_before?: string | null | undefined
  readonly created_after?: string | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
}

const FINISHED = ['success', 'failed', 'canceled'] as const

export function listPipelinesOf(
  db: Db,
  schedule: number,
  { scope, status, sort, ...times }: PipelinesFilter,
  page: PageRequest,
): Promise<Page<Pipeline>> {
  let found = pipelinesOf(db, schedule)
  if (scope) found = found.where('status', 'in', scope === 'finished' ? FINISHED : [scope])
  if (status) found = found.where('status', '=', status)
  for (const name of ['updated', 'created'] as const) {
    const [before, after] = [times[`${name}_before`], times[`${name}_after`]]
    if (before) found = found.where(`${name}_at`, '<=', before)
    if (after) found = found.where(`${name}_at`, '>=', after)
  }
  return pageOfQuery(found.orderBy('id', sort ?? 'asc'), page)
}

export async function presentListedSchedules(
  app: App,
  rows: readonly Schedule[],
): Promise<z.infer<typeof ListedScheduleEntity>[]> {
  const [loaded, around] = await Promise.all([withUsers(app.db, rows, { owner: 'owner_id' }), surroundings(app)])
  return loaded.map((one) => presentListedSchedule(one, around))
}

export async function presentOneSchedule(app: App, subject: ScheduleSubject): Promise<z.infer<typeof ScheduleEntity>> {
  const { schedule } = subject
  const [[loaded], around, last, variables] = await Promise.all([
    withUsers(app.db, [schedule], { owner: 'owner_id' }),
    surroundings(app),
    pipelinesOf(app.db, schedule.id).orderBy('id', 'desc').limit(1).execute(),
    schedulePolicy.update(subject) ? listVariablesOf(app.db, schedule.id) : null,
  ])
  const [shown] = presentListedPipelines(app, subject, last)
  return presentSchedule(app, loaded!, around, { last: shown ?? null, variables })
}
