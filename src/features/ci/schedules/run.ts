/** Pipelines of schedules: by their owner at their time, or by hand. */
import type { App, User } from '../../../context.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { createPipeline, type Made } from '../pipelines/create.ts'
import { namedRef } from '../pipelines/refs.ts'
import type { Schedule } from './model.ts'
import { listVariablesOf } from './queries.ts'

export async function runSchedule(app: App, project: Project, schedule: Schedule, actor: User | null): Promise<Made> {
  const asked = namedRef(schedule.ref)
  if (!asked) return { pipeline: null, errors: ['Reference not found'] }
  const variables = await listVariablesOf(app.db, schedule.id)
  return createPipeline(app, {
    project,
    actor,
    source: 'schedule',
    ...asked,
    schedule_id: schedule.id,
    variables: variables.map(({ key, value_sealed, variable_type, raw }) => ({
      key,
      value: app.vault.open(value_sealed),
      variable_type,
      raw,
    })),
  })
}

/** Once for each time it was due: one that was made since is not made again. */
export async function runDue(app: App, id: number, since: string): Promise<void> {
  const { db, log } = app
  const schedule = await db.selectFrom('pipeline_schedules').selectAll().where('id', '=', id).executeTakeFirst()
  const project = schedule && (await findProjectById(db, schedule.project_id))
  if (!schedule || !project) return
  const made = await db
    .selectFrom('pipelines')
    .select('id')
    .where('schedule_id', '=', id)
    .where('created_at', '>=', since)
    .limit(1)
    .executeTakeFirst()
  if (made) return
  const owner = schedule.owner_id === null ? null : await findUser(db, schedule.owner_id)
  const { pipeline, errors } = await runSchedule(app, project, schedule, owner)
  if (!pipeline) log.info({ schedule: id, errors }, 'a schedule made no pipeline')
}
