import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal, forbidden } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { begin } from '../pipelines/create.ts'
import { lockPipeline, processLocked } from '../pipelines/process.ts'
import { mayRetry } from '../pipelines/rights.ts'
import { isEnded } from '../pipelines/status.ts'
import { cloneJob } from './cloning.ts'
import type { Job } from './model.ts'
import { optionsOf } from './options.ts'
import { moveJobs } from './steps.ts'
import type { StopOptions } from './stopping.ts'
import { cancelJob, enqueueJob } from './transitions.ts'

async function assertChanges(app: App, subject: RepositorySubject, job: Job): Promise<void> {
  if (!(await mayRetry(app, subject, job))) throw forbidden()
}

/** A finished job does not change any more. */
export async function stopJob(app: App, subject: RepositorySubject, job: Job, input: StopOptions): Promise<void> {
  await assertChanges(app, subject, job)
  await cancelJob(app, job, input)
}

/** Creates the new job and runs it as the caller. */
export async function retryJob(app: App, subject: RepositorySubject, job: Job): Promise<Job> {
  await assertChanges(app, subject, job)
  return runAgain(app, subject, job)
}

async function runAgain(
  app: App,
  { dir, viewer }: RepositorySubject,
  job: Job,
  more: { options?: string | null } = {},
): Promise<Job> {
  await begin(dir, { id: job.pipeline_id, sha: job.sha })
  return transact(app, async (app) => {
    await lockPipeline(app, job.pipeline_id)
    const current = await app.db.selectFrom('ci_jobs').selectAll().where('id', '=', job.id).executeTakeFirst()
    if (!current || current.retried || !isEnded(current.status)) throw forbidden('Job is not retryable')
    const made = await cloneJob(app, current, { status: 'pending', user_id: viewer?.id ?? null, ...more })
    await reopenAfter(app, current)
    await processLocked(app, job.pipeline_id)
    return made
  })
}

/** Resets jobs that were skipped because of the failed job. */
async function reopenAfter(app: TransactionApp, { pipeline_id, stage_position }: Job): Promise<void> {
  const skipped = await app.db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline_id)
    .where('retried', '=', false)
    .where('status', '=', 'skipped')
    .where((eb) => eb.or([eb('stage_position', '>', stage_position), eb('needs', 'is not', null)]))
    .execute()
  await moveJobs(
    app,
    skipped.map(({ id }) => id),
    'created',
  )
}

export interface PlayInput {
  readonly variables?: readonly { readonly key: string; readonly value: string }[]
}

/** Starts a manual or delayed job. A job that has already run is retried. */
export async function playJob(app: App, subject: RepositorySubject, job: Job, input: PlayInput): Promise<Job> {
  await assertChanges(app, subject, job)
  const isForHands = job.when === 'manual' || job.status === 'scheduled'
  if (!isForHands || job.retried) throw unplayable()
  const options = input.variables?.length
    ? JSON.stringify({ ...optionsOf(job), played_with: app.vault.seal(JSON.stringify(input.variables)) })
    : job.options
  if (isEnded(job.status)) return runAgain(app, subject, job, { options })
  await begin(subject.dir, { id: job.pipeline_id, sha: job.sha })
  const played = await enqueueJob(app, job, { user_id: subject.viewer?.id ?? null, options })
  if (!played) throw unplayable()
  return played
}

const unplayable = () => new Refusal('bad_request', '400 (Bad request) "Unplayable Job" not given')

/** Deletes the log and the artifacts. The status stays. */
export async function eraseJob(app: App, subject: RepositorySubject, job: Job): Promise<void> {
  await assertChanges(app, subject, job)
  await transact(app, async ({ db, clock }) => {
    const current = await db.selectFrom('ci_jobs').selectAll().where('id', '=', job.id).executeTakeFirst()
    const kept = await db.selectFrom('ci_artifacts').select('id').where('job_id', '=', job.id).limit(1).execute()
    const isErasable = current && isEnded(current.status) && (kept.length > 0 || current.trace_size > 0)
    if (!isErasable) throw forbidden('Job is not erasable!')
    await db.deleteFrom('ci_artifacts').where('job_id', '=', job.id).execute()
    await db.deleteFrom('ci_trace_chunks').where('job_id', '=', job.id).execute()
    const now = timestamp(clock)
    await db
      .updateTable('ci_jobs')
      .set({
        trace_size: 0,
        trace_digest: null,
        artifacts_expire_at: null,
        erased_at: now,
        erased_by_id: subject.viewer?.id ?? null,
        updated_at: now,
      })
      .where('id', '=', job.id)
      .execute()
  })
}

/** The variables that a user gave when starting the job by hand. Empty if the encryption key is lost. */
export function playedWith({ vault }: App, job: Job): { key: string; value: string }[] {
  const { played_with: sealed } = optionsOf(job)
  return sealed !== undefined && vault.canOpen(sealed)
    ? (JSON.parse(vault.open(sealed)) as { key: string; value: string }[])
    : []
}
