/**
 * Derives the next steps and the status of a pipeline from its jobs. Idempotent: a second run after a crash, or a
 * concurrent run, gives the same result. Code that changes a job must lock its pipeline first, so that concurrent
 * changes compose.
 */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { lockName } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { JobStatus } from '../jobs/model.ts'
import { needsOf } from '../jobs/options.ts'
import { moveJobs } from '../jobs/steps.ts'
import { stopJobs } from '../jobs/stopping.ts'
import { CANCEL_CHILDREN, type CancelChildren } from './children.ts'
import { keepLatest } from './latest.ts'
import type { Pipeline } from './model.ts'
import { processing } from './processing.ts'
import { composedStatus, isEnded } from './status.ts'

export const lockPipeline = (app: TransactionApp, id: number): Promise<void> => lockName(app.db, `pipeline ${id}`)

/** Null if the pipeline does not exist. */
export function processPipeline(app: App, id: number): Promise<Pipeline | null> {
  return transact(app, async (app) => {
    await lockPipeline(app, id)
    return processLocked(app, id)
  })
}

/** Runs in a transaction that has locked the pipeline. */
export async function processLocked(app: TransactionApp, id: number): Promise<Pipeline | null> {
  const pipeline = await findLocked(app, id)
  if (!pipeline) return null
  const rows = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'kind', 'name', 'stage_position', 'status', 'when', 'allow_failure', 'resource_group_id'])
    // Needs can be long lists, and only jobs in status `created` use them.
    .select(sql<string | null>`case when status = 'created' then needs end`.as('needs'))
    .where('pipeline_id', '=', id)
    .where('retried', '=', false)
    .orderBy('stage_position')
    .orderBy('id')
    .execute()
  const jobs = rows.map((row) => ({
    ...row,
    needs: needsOf(row),
    has_resource_group: row.resource_group_id !== null,
  }))
  const { steps, status } = processing(jobs, pipeline)
  const stopped = await stopJobs(app, steps.cancel)
  if (stopped.length > 0) await enqueue<CancelChildren>(app, CANCEL_CHILDREN, { id })
  await moveJobs(app, steps.skip, 'skipped')
  await moveJobs(app, steps.actionize, 'manual')
  await moveJobs(app, steps.schedule, 'scheduled')
  await moveJobs(app, steps.wait, 'waiting_for_resource')
  await moveJobs(app, steps.enqueue, 'pending')
  // Jobs with graceful cancellation end later, so the status is computed again.
  if (stopped.some((job) => job.status === 'canceling')) return processLocked(app, id)
  return followJobs(app, pipeline, status)
}

/** The short form for a job that has started: only the status of the pipeline can change. */
export async function startLocked(app: TransactionApp, id: number): Promise<Pipeline | null> {
  const pipeline = await findLocked(app, id)
  return pipeline && followJobs(app, pipeline, composedStatus([{ status: 'running', allow_failure: false }]))
}

const pipelineById = hotQuery((db, p: { id: number }) => db.selectFrom('pipelines').selectAll().where('id', '=', p.id))

async function findLocked({ db }: App, id: number): Promise<Pipeline | null> {
  return (await pipelineById(db, { id }))[0] ?? null
}

async function followJobs(app: TransactionApp, pipeline: Pipeline, composed: JobStatus | null): Promise<Pipeline> {
  // A pipeline with an invalid configuration has no jobs and stays failed.
  if (pipeline.yaml_errors !== null) return pipeline
  const status = shownAfter(pipeline.status, composed ?? 'skipped')
  if (status === pipeline.status) return isEnded(status) ? recountedCoverage(app, pipeline) : pipeline
  const now = timestamp(app.clock)
  const updated = await app.db
    .updateTable('pipelines')
    .set({ status, updated_at: now, ...(await timesOf(app, pipeline, status, now)) })
    .where('id', '=', pipeline.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (status === 'success') await keepLatest(app, updated)
  const { id, project_id, sha } = pipeline
  await emit(app, 'pipeline.changed', { id, project_id, sha, status })
  return updated
}

/** A pipeline that has started shows as running, not as pending. */
const shownAfter = (was: JobStatus, composed: JobStatus): JobStatus =>
  composed === 'pending' && (isEnded(was) || was === 'canceling' || was === 'running') ? 'running' : composed

async function timesOf(app: App, pipeline: Pipeline, status: JobStatus, now: string) {
  if (status === 'running') return { started_at: pipeline.started_at ?? now, finished_at: null, duration: null }
  if (!isEnded(status)) return {}
  const spans = await app.db
    .selectFrom('ci_jobs')
    .select(['started_at', 'finished_at', 'coverage'])
    .where('pipeline_id', '=', pipeline.id)
    .where('retried', '=', false)
    .execute()
  return { finished_at: now, duration: lengthOf(spans, now), coverage: averageOf(spans) }
}

/** External tools may report coverage after the pipeline has ended. */
async function recountedCoverage({ db }: App, pipeline: Pipeline): Promise<Pipeline> {
  const jobs = await db
    .selectFrom('ci_jobs')
    .select('coverage')
    .where('pipeline_id', '=', pipeline.id)
    .where('retried', '=', false)
    .where('coverage', 'is not', null)
    .execute()
  const coverage = averageOf(jobs)
  if (coverage === pipeline.coverage) return pipeline
  await db.updateTable('pipelines').set({ coverage }).where('id', '=', pipeline.id).execute()
  return { ...pipeline, coverage }
}

function averageOf(jobs: readonly { readonly coverage: number | null }[]): number | null {
  const known = jobs.flatMap(({ coverage }) => coverage ?? [])
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length
}

interface Span {
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** The whole seconds in which at least one job ran. Null if no job ever ran. */
export function lengthOf(spans: readonly Span[], now: string): number | null {
  const begun = spans
    .flatMap(({ started_at, finished_at }) =>
      started_at === null ? [] : [[Date.parse(started_at), Date.parse(finished_at ?? now)] as const],
    )
    .toSorted(([a], [b]) => a - b)
  if (begun.length === 0) return null
  let length = 0
  let end = -Infinity
  for (const [from, to] of begun) {
    length += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return Math.floor(length / 1000)
}
