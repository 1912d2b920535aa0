/**
 * The one way jobs come from one status to the next: only from those it may leave, so what has ended is never changed;
 * with its times, its news, and the work that follows from it, all in one transaction.
 */
import { sql } from 'kysely'
import { after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { batchesOf } from '../../../lib/batches.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { emitAll } from '../../../store/outbox.ts'
import { followDeployments } from '../environments/deployments.ts'
import { endRuns } from '../runner-protocol/runs.ts'
import type { Job, JobStatus } from './model.ts'
import { optionsOf } from './options.ts'
import { newJobToken } from './tokens.ts'
import { announceWaitingJobs } from './waiting.ts'

/** Jobs of the queue, by name: what they do is declared in `jobs.ts`, which stands above this. */
export const ASSIGN_RESOURCE = { name: 'ci.assign_resource' }
export const START_DELAYED = { name: 'ci.start_delayed' }
export const ARCHIVE_TRACE = { name: 'ci.archive_trace' }

const ACTIVE = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running'] as const

/** From where a job comes to each status; `startJobs()` makes it run. */
const FROM: { readonly [status in Exclude<JobStatus, 'running'>]: readonly JobStatus[] } = {
  /** Again, because something before it is run again. */
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

/** Of these, those that were where they could leave from. Inside a transaction that holds their pipeline. */
export async function moveJobs(
  app: App,
  ids: readonly number[],
  status: keyof typeof FROM,
  change: Change = {},
): Promise<Job[]> {
  const now = timestamp(app.clock)
  const moved: Job[] = []
  for (const some of batchesOf(ids, AT_ONCE)) {
    const rows = await app.db
      .updateTable('ci_jobs')
      // Raised here, the trigger need not write the row once more.
      .set({ status: sql.lit(status), ...change, ...timesOf(status, now), updated_at: now, version: sql`version + 1` })
      .where(inIdList(app.db, 'id', idList(app.db, some)))
      // As they stand: SQLite would plan anew for each value of a column that has partial indexes.
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
  /** Seconds. */
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
      // What was never in the queue begins at once.
      queued_at: sql<string>`coalesce(queued_at, ${p.now})`,
      updated_at: p.now,
      version: sql`version + 1`,
    })
    .where('id', '=', p.id)
    .where('status', '=', sql.lit('pending'))
    .returningAll(),
)

/** Of several who want the same, one gets it: the others find null. By their ids, so that nobody waits in a circle. */
export async function startJobs(
  app: App,
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

/** What a runner was to have and never got waits for the next; whoever comes with its former token is refused. */
export async function requeueJob(app: App, id: number): Promise<Job | null> {
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

/** Also of jobs that were made just now. */
export async function announceJobs(app: App, jobs: readonly Job[]): Promise<void> {
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

/** Whoever waits for one, gives one back or leaves the line has them given out anew: by another transaction, as pipelines share them. */
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
