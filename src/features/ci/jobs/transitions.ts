/** Changes the status of one job and processes its pipeline, in one transaction. */
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { lockPipeline, processLocked, startLocked } from '../pipelines/process.ts'
import { dropRun } from '../runner-protocol/runs.ts'
import { cloneJob } from './cloning.ts'
import { coverageOf } from './coverage.ts'
import { isAllowedExit, mostRetries, type Failure } from './failures.ts'
import type { Job, JobStatus } from './model.ts'
import { optionsOf } from './options.ts'
import { moveJobs, requeueJob, startJobs, type Beginning, type Change } from './steps.ts'
import { stopJobs, type StopOptions } from './stopping.ts'

type Payload = Pick<Job, 'id' | 'pipeline_id'>

/** Null if the status does not allow the step: the job has finished, or a concurrent caller was faster. */
async function change(
  app: App,
  job: Payload,
  status: Exclude<JobStatus, 'running'>,
  more: Change = {},
): Promise<Job | null> {
  return transact(app, async (app) => {
    await lockPipeline(app, job.pipeline_id)
    const [moved] = await moveJobs(app, [job.id], status, more)
    if (!moved) return null
    await processLocked(app, job.pipeline_id)
    return moved
  })
}

/** Queues the job for runners, or for its resource. */
export function enqueueJob(
  app: App,
  job: Payload & Pick<Job, 'resource_group_id'>,
  more: Pick<Change, 'user_id' | 'options'> = {},
): Promise<Job | null> {
  return change(app, job, job.resource_group_id === null ? 'pending' : 'waiting_for_resource', more)
}

/** When several callers start the same job, only one gets it. */
export function runJob(app: App, { id, pipeline_id }: Payload, beginning: Beginning): Promise<Job | null> {
  return transact(app, async (app) => {
    await lockPipeline(app, pipeline_id)
    const [started = null] = await startJobs(app, [{ ...beginning, id }])
    if (started) await startLocked(app, pipeline_id)
    return started
  })
}

/**
 * Returns the job to the queue if this process had not delivered it to a runner yet. A job in status `canceling`
 * becomes canceled.
 */
export async function returnJob(app: App, run: { readonly id: number; readonly holder: string }): Promise<void> {
  const { id } = run
  const job = await app.db.selectFrom('ci_jobs').select('pipeline_id').where('id', '=', id).executeTakeFirst()
  if (!job) return
  await transact(app, async (app) => {
    await lockPipeline(app, job.pipeline_id)
    if (!(await dropRun(app, run))) return
    if (!(await requeueJob(app, id))) await stopJobs(app, [id], { isForced: true })
    await processLocked(app, job.pipeline_id)
  })
}

export async function succeedJob(app: App, job: Job): Promise<Job | null> {
  return change(app, job, 'success', await covered(app, job))
}

/** A retry is created in the same transaction as the failure. */
export async function dropJob(app: App, job: Job, failed: Failure): Promise<Job | null> {
  const { reason, exit_code = null } = failed
  const found = await covered(app, job)
  return transact(app, async (app) => {
    await lockPipeline(app, job.pipeline_id)
    const isAllowed = isAllowedExit(optionsOf(job), exit_code)
    const failure = { failure_reason: reason, exit_code, ...found, ...(isAllowed && { allow_failure: true }) }
    const [moved] = await moveJobs(app, [job.id], 'failed', failure)
    if (!moved) return null
    if (await isTriedAgain(app, moved, failed)) await cloneJob(app, moved, { status: 'pending' })
    await processLocked(app, job.pipeline_id)
    return moved
  })
}

async function isTriedAgain(app: App, job: Job, failed: Failure): Promise<boolean> {
  const most = mostRetries(optionsOf(job).retry, failed)
  if (most === 0 || job.retried) return false
  const { tries } = await app.db
    .selectFrom('ci_jobs')
    .select((eb) => eb.fn.countAll<number>().as('tries'))
    .where('pipeline_id', '=', job.pipeline_id)
    .where('name', '=', job.name)
    .where('retried', '=', true)
    .executeTakeFirstOrThrow()
  return Number(tries) < most
}

/** A finished job does not change any more. */
export function cancelJob(app: App, { id, pipeline_id }: Payload, input: StopOptions = {}): Promise<Job | null> {
  return transact(app, async (app) => {
    await lockPipeline(app, pipeline_id)
    const [moved] = await stopJobs(app, [id], input)
    if (moved) await processLocked(app, pipeline_id)
    return moved ?? null
  })
}

/** Runs before the transaction, because reading a log takes time. */
async function covered(app: App, job: Job): Promise<Pick<Change, 'coverage'>> {
  const coverage = job.coverage ?? (await coverageOf(app, job))
  return coverage === null ? {} : { coverage }
}
