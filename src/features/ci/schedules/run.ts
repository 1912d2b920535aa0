/** Creates the pipelines of schedules: at their time as the owner, or by hand. */
import type { App, User } from '../../../context.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { createPipeline, type Made } from '../pipelines/create.ts'
import type { Cause } from '../pipelines/marks.ts'
import { parseRefName } from '../pipelines/refs.ts'
import { inputsOf, type Schedule } from './model.ts'
import { listVariablesOf } from './queries.ts'

export async function runSchedule(
  app: App,
  project: Project,
  schedule: Schedule,
  actor: User | null,
  cause?: Cause,
): Promise<Made> {
  const parsed = parseRefName(schedule.ref)
  if (!parsed) return { pipeline: null, errors: ['Reference not found'] }
  const variables = await listVariablesOf(app.db, schedule.id)
  return createPipeline(app, {
    project,
    actor,
    source: 'schedule',
    ...parsed,
    schedule_id: schedule.id,
    inputs: inputsOf(schedule),
    ...(cause && { cause }),
    variables: variables.map(({ key, value_sealed, variable_type, raw }) => ({
      key,
      value: app.vault.open(value_sealed),
      variable_type,
      raw,
    })),
  })
}

/** Runs once for each due time, even if a user has started the schedule by hand meanwhile. */
export async function runDue(app: App, id: number, due: string): Promise<void> {
  const { db, log } = app
  const schedule = await db.selectFrom('pipeline_schedules').selectAll().where('id', '=', id).executeTakeFirst()
  const project = schedule && (await findProjectById(db, schedule.project_id))
  if (!schedule || !project) return
  const owner = schedule.owner_id === null ? null : await findUser(db, schedule.owner_id)
  const { errors } = await runSchedule(app, project, schedule, owner, { of: ['schedule', id, due] })
  if (errors.length > 0) log.info({ schedule: id, errors }, 'a schedule made no pipeline')
}
