/**
 * The only code that changes the status of a job. A job moves only from a status that allows the step, so a finished
 * job never changes. One transaction writes the status, its times, the event and the follow-up work.
 */
import { sql } from 'kysely'
import { after, timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { emitAll } from '../../../store/outbox.ts'
import { followDeployments } from '../environments/deployments.ts'
import { endRuns } from '../runner-protocol/runs.ts'
import type { Job, JobStatus } from './model.ts'
import { optionsOf } from './options.ts'
import { newJobToken } from './tokens.ts'
import { announceWaitingJobs } from './waiting.ts'

/** Names of background jobs. `jobs.ts` declares their handlers, and imports this file. */
export const ASSIGN_RESOURCE = { name: 'ci.assign_resource' }
export const START_DELAYED = { name: 'ci.start_delayed' }
export const ARCHIVE_TRACE = { name: 'ci.archive_trace' }

const ACTIVE = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running'] as const

/** The statuses from which a job may reach each status; `startJobs()` handles `running`. */
const FROM: { readonly [status in Exclude<JobStatus, 'running'>]: readonly JobStatus[] } = {
  /** Again, because an earlier job runs again. */
  created: ['skipped', 'manual'],
  preparing: ['created'],
  waiting_for_resource: ['created', 'skipped', 'manual', 'scheduled'],
  pending: ['created', 'skipped', 'manual', 'scheduled', 'preparing', 'waiting_for_resource'],
  success: ['created', 'preparing', 'pending', 'running'],
  failed: [...ACTIVE, 'scheduled'],
  canceling: ['running'],
  canceled: [...ACTIVE, 'scheduled', 'manual', 'canceling'],
  skipped: ['created', 'preparing', 'waiting_for_resource', 'pending'],
  manual: ['created'],
  scheduled: ['created'],
}

export type Change = Partial<
  Pick<
    Job,
    | 'runner_id'
    | 'manager_id'
    | 'timeout'
    | 'failure_reason'
    | 'exit_code'
    | 'coverage'
    | 'user_id'
    | 'allow_failure'
    | 'options'
  >
>

const AT_ONCE = 500
const ENDED: readonly JobStatus[] = ['success', 'failed', 'canceled']

/**
 * Returns the jobs that were in a status that allows the step. Runs in a transaction that has locked their pipeline.
 */
export async function moveJobs(
  app: TransactionApp,
  ids: readonly number[],
  status: keyof typeof FROM,
  change: Change = {},
): Promise<Job[]> {
  const now = timestamp(app.clock)
  const moved: Job[] = []
  for (const some of batchesOf(ids, AT_ONCE)) {
    const rows = await app.db
      .updateTable('ci_jobs')
      // With the version raised here, the trigger does not write the row a second time.
      .set({ status: sql.lit(status), ...change, ...timesOf(status, now), updated_at: now, version: sql`version + 1` })
      .where(inIdList(app.db, 'id', idList(app.db, some)))
      // Literals, not parameters: SQLite would plan the query again for each value of a column with partial indexes.
      .where(
        'status',
        'in',
        FROM[status].map((from) => sql.lit(from)),
      )
      .returningAll()
      .execute()
    moved.push(...rows)
  }
  moved.sort((a, b) => a.id - b.id)
  await announceJobs(app, moved)
  return moved
}

export interface Beginning {
  readonly runner_id: number | null
  readonly manager_id?: number | null
  /** In seconds. */
  readonly timeout?: number | null
  readonly started_at?: string
}

const begin = hotQuery((db, p: Beginning & { id: number; now: string }) =>
  db
    .updateTable('ci_jobs')
    .set({
      status: sql.lit('running'),
      runner_id: p.runner_id,
      manager_id: p.manager_id!,
      timeout: p.timeout!,
      started_at: p.started_at!,
      contacted_at: p.now,
      // A job that was never queued starts at once.
      queued_at: sql<string>`coalesce(queued_at, ${p.now})`,
      updated_at: p.now,
      version: sql`version + 1`,
    })
    .where('id', '=', p.id)
    .where('status', '=', sql.lit('pending'))
    .returningAll(),
)

/**
 * When several callers start the same job, one gets the job and the others get null. Rows are locked in the order of
 * their ids, which prevents deadlocks.
 */
export async function startJobs(
  app: TransactionApp,
  beginnings: readonly (Beginning & { readonly id: number })[],
): Promise<(Job | null)[]> {
  const now = timestamp(app.clock)
  const started = beginnings.map((): Job | null => null)
  for (const [n, beginning] of [...beginnings.entries()].toSorted(([, a], [, b]) => a.id - b.id)) {
    const [job = null] = await begin(app.db, { manager_id: null, timeout: null, started_at: now, ...beginning, now })
    started[n] = job
  }
  await announceJobs(
    app,
    started.filter((job) => job !== null),
  )
  return started
}

/**
 * Puts a job back into the queue that its runner never received. The job gets a new token, and the server rejects the
 * old one.
 */
export async function requeueJob(app: TransactionApp, id: number): Promise<Job | null> {
  const now = timestamp(app.clock)
  const job = await app.db
    .updateTable('ci_jobs')
    .set({
      status: sql.lit('pending'),
      ...newJobToken(app.vault),
      runner_id: null,
      manager_id: null,
      timeout: null,
      started_at: null,
      contacted_at: null,
      queued_at: now,
      updated_at: now,
      version: sql`version + 1`,
    })
    .where('id', '=', id)
    .where('status', '=', sql.lit('running'))
    .returningAll()
    .executeTakeFirst()
  if (job) await announceJobs(app, [job])
  return job ?? null
}

function timesOf(status: keyof typeof FROM, now: string) {
  if (status === 'created') return { queued_at: null, started_at: null, finished_at: null, scheduled_at: null }
  if (status === 'pending') return { queued_at: now, scheduled_at: null }
  return ENDED.includes(status) ? { finished_at: now, scheduled_at: null } : {}
}

/** Also called for jobs that were just created. */
export async function announceJobs(app: TransactionApp, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return
  await emitAll(
    app,
    'job.changed',
    jobs.map(({ id, kind, project_id, pipeline_id, status }) => ({ id, kind, project_id, pipeline_id, status })),
  )
  if (jobs.some(({ kind, status }) => kind === 'job' && status === 'pending')) await announceWaitingJobs(app)
  await followDeployments(app, jobs)
  await passResources(app, jobs)
  for (const job of jobs) if (job.status === 'scheduled') await planStart(app, job)
  const ran = jobs.filter((job) => ENDED.includes(job.status) && job.kind === 'job' && job.started_at !== null)
  await endRuns(app, ran)
  for (const { id } of ran) await enqueue(app, ARCHIVE_TRACE, { id }, { key: `ci.archive_trace ${id}` })
}

/**
 * A job that starts to wait for a resource, releases one or leaves the queue triggers a new assignment. Another
 * transaction assigns, because pipelines share resources.
 */
async function passResources(app: App, jobs: readonly Job[]): Promise<void> {
  const groups = jobs.flatMap(({ resource_group_id, status }) =>
    resource_group_id !== null && [...ENDED, 'skipped', 'manual', 'waiting_for_resource'].includes(status)
      ? resource_group_id
      : [],
  )
  for (const id of new Set(groups)) await enqueue(app, ASSIGN_RESOURCE, { id })
}

async function planStart(app: App, job: Job): Promise<void> {
  const delay = (optionsOf(job).start_in ?? 0) * 1000
  await app.db
    .updateTable('ci_jobs')
    .set({ scheduled_at: after(app.clock, delay) })
    .where('id', '=', job.id)
    .execute()
  await enqueue(app, START_DELAYED, { id: job.id }, { delay })
}
