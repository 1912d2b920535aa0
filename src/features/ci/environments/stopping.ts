/** Stops environments: by hand, at a scheduled time, or when they are stale. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import type { Job } from '../jobs/model.ts'
import { playJob } from '../jobs/service.ts'
import type { Environment } from './model.ts'
import { lastDeploymentOf } from './queries.ts'

/**
 * Starts the stop job that the last deployment names, unless that job was just started. Without a usable stop job, the
 * environment is stopped at once.
 */
export async function stopEnvironment(
  app: App,
  subject: RepositorySubject,
  environment: Environment,
  { force = false } = {},
): Promise<Environment> {
  if (environment.state === 'stopped') return environment
  const job = force ? null : await stopJobOf(app, environment)
  if (job && STARTED_BY_HAND.includes(job.status)) await playJob(app, subject, job, {})
  const updated = await app.db
    .updateTable('environments')
    .set({ state: job ? 'stopping' : 'stopped', auto_stop_at: null, updated_at: timestamp(app.clock) })
    .where('id', '=', environment.id)
    // The stop job may have finished already.
    .where('state', '!=', 'stopped')
    .returningAll()
    .executeTakeFirst()
  return updated ?? { ...environment, state: 'stopped', auto_stop_at: null }
}

const STARTED_BY_HAND = ['manual', 'skipped', 'success', 'failed', 'canceled']
const UNDER_WAY = ['waiting_for_resource', 'preparing', 'scheduled', 'pending', 'running', 'canceling']

async function stopJobOf({ db }: App, { id }: Environment): Promise<Job | null> {
  const last = await lastDeploymentOf(db, id)
  if (last?.on_stop == null || last.job_id === null) return null
  const job = await db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('pipeline_id', 'in', (eb) => eb.selectFrom('ci_jobs').select('pipeline_id').where('id', '=', last.job_id))
    .where('name', '=', last.on_stop)
    .where('kind', '=', 'job')
    .where('retried', '=', false)
    .executeTakeFirst()
  return job && job.when === 'manual' && [...STARTED_BY_HAND, ...UNDER_WAY].includes(job.status) ? job : null
}

const AT_ONCE = 100

/** Stops environments whose time has come, in the name of the user who deployed last. */
export async function stopDue(app: App): Promise<void> {
  const due = await app.db
    .selectFrom('environments')
    .selectAll()
    .where('auto_stop_at', '<=', timestamp(app.clock))
    .orderBy('auto_stop_at')
    .limit(AT_ONCE)
    .execute()
  for (const environment of due) await stopAlone(app, environment)
}

async function stopAlone(app: App, environment: Environment): Promise<void> {
  const [project, last] = await Promise.all([
    findProjectById(app.db, environment.project_id),
    lastDeploymentOf(app.db, environment.id),
  ])
  if (!project) return
  const actor = last?.user_id == null ? null : await findUser(app.db, last.user_id)
  const may = actor?.state === 'active' ? actor : null
  try {
    await stopEnvironment(app, await loadRepositorySubject(app, project, may), environment)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // No user may start the stop job now. The environment stays, and the server does not try again for ever.
    app.log.info({ environment: environment.id }, 'an environment could not be stopped')
    await app.db.updateTable('environments').set({ auto_stop_at: null }).where('id', '=', environment.id).execute()
  }
}

/**
 * Stops the environments whose last deployment came from a deleted branch, in the name of the user who deleted the
 * branch. Environments without a stop job stay.
 */
export async function stopOfBranches(
  app: App,
  { project_id, by, branches }: { project_id: number; by: number | null; branches: readonly string[] },
): Promise<void> {
  const { db } = app
  const [project, actor] = await Promise.all([findProjectById(db, project_id), by === null ? null : findUser(db, by)])
  if (!project || actor?.state !== 'active') return
  const deployed = await db
    .selectFrom('environments')
    .selectAll('environments')
    .where('environments.project_id', '=', project_id)
    .where('environments.state', '=', 'available')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('deployments as d')
          .select('d.id')
          .where('d.id', '=', (last) =>
            last
              .selectFrom('deployments as newest')
              .select((of) => of.fn.max('newest.id').as('id'))
              .whereRef('newest.environment_id', '=', 'environments.id')
              .where('newest.status', '=', 'success'),
          )
          .where('d.tag', '=', false)
          .where('d.on_stop', 'is not', null)
          .where(inTextList(db, 'd.ref', textList(db, branches))),
      ),
    )
    .orderBy('environments.id')
    .limit(AT_ONCE)
    .execute()
  const subject = await loadRepositorySubject(app, project, actor)
  for (const environment of deployed) {
    await stopEnvironment(app, subject, environment).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
      app.log.info({ environment: environment.id, why: error.message }, 'an environment could not be stopped')
    })
  }
}

const MOST_STALE = 1000

/** Stops environments without a deployment since then. */
export async function stopStale(app: App, subject: RepositorySubject, before: string): Promise<void> {
  const stale = await app.db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', subject.project.id)
    .where('state', '=', 'available')
    .where('updated_at', '<', before)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('deployments')
            .select('deployments.id')
            .whereRef('deployments.environment_id', '=', 'environments.id')
            .where('deployments.updated_at', '>=', before),
        ),
      ),
    )
    .orderBy('id')
    .limit(MOST_STALE)
    .execute()
  for (const environment of stale) await stopEnvironment(app, subject, environment)
}
