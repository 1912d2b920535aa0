/** Creates a deployment for each job with an environment. The status of a deployment follows its job. */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { nextIid } from '../../planning/iids.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import type { Deployment } from './model.ts'

const FOLLOWED = ['running', 'success', 'failed', 'canceled', 'skipped'] as const
type Followed = (typeof FOLLOWED)[number]
const isFollowed = (status: string): status is Followed => (FOLLOWED as readonly string[]).includes(status)

/** Runs in the transaction that changes the jobs. Idempotent. */
export async function followDeployments(app: TransactionApp, jobs: readonly Job[]): Promise<void> {
  for (const job of jobs) {
    if (job.environment_id === null || !isFollowed(job.status)) continue
    const { environment } = optionsOf(job)
    const action = environment?.action ?? 'start'
    if (action === 'start') await follow(app, job, job.status, environment?.on_stop ?? null)
    if (action === 'stop' && job.status === 'success') await endEnvironment(app, job.environment_id)
    if (action === 'stop' && ['failed', 'canceled'].includes(job.status)) await keepEnvironment(app, job.environment_id)
  }
}

async function follow(app: TransactionApp, job: Job, status: Followed, on_stop: string | null): Promise<void> {
  const now = timestamp(app.clock)
  const over = status === 'running' ? {} : { finished_at: now }
  const known = await app.db
    .selectFrom('deployments')
    .select(['id', 'project_id', 'status'])
    .where('job_id', '=', job.id)
    .executeTakeFirst()
  if (known && known.status !== status) {
    await app.db
      .updateTable('deployments')
      .set({ status, updated_at: now, ...over })
      .where('id', '=', known.id)
      .execute()
    await announceDeployment(app, { ...known, status })
  }
  // A job that never started has deployed nothing.
  if (known || job.started_at === null) return openEnvironment(app, job, status)
  const { project_id, environment_id, user_id, ref, tag, sha } = job
  const made = await app.db
    .insertInto('deployments')
    .values({
      project_id,
      iid: await nextIid(app.db, { project_id }, 'deployments'),
      environment_id: environment_id!,
      job_id: job.id,
      user_id,
      ref,
      tag,
      sha,
      status,
      on_stop,
      finished_at: over.finished_at ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await announceDeployment(app, made)
  await openEnvironment(app, job, status)
}

/** Runs in the transaction that changes the deployment. */
export const announceDeployment = (
  app: TransactionApp,
  { id, project_id, status }: Pick<Deployment, 'id' | 'project_id' | 'status'>,
) => emit(app, 'deployment.changed', { id, project_id, status })

/** False if the deployment no longer exists. */
export async function markLinked({ db }: App, id: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deployments')
    .set({ linked: true })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** A successful deployment makes the environment available again. */
async function openEnvironment(app: App, { environment_id }: Job, status: Followed): Promise<void> {
  if (status !== 'success' || environment_id === null) return
  await app.db
    .updateTable('environments')
    .set({ state: 'available', updated_at: timestamp(app.clock) })
    .where('id', '=', environment_id)
    .where('state', '!=', 'available')
    .execute()
}

async function endEnvironment(app: App, id: number): Promise<void> {
  await app.db
    .updateTable('environments')
    .set({ state: 'stopped', auto_stop_at: null, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
}

/** The stop job failed or was canceled, so the environment stays available. */
async function keepEnvironment(app: App, id: number): Promise<void> {
  await app.db
    .updateTable('environments')
    .set({ state: 'available', updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .where('state', '=', 'stopping')
    .execute()
}
