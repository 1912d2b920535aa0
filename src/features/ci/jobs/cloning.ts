import { timestamp } from '../../../clock.ts'
import type { TransactionApp } from '../../../context.ts'
import type { Job } from './model.ts'
import { announceJobs } from './steps.ts'
import { newJobToken } from './tokens.ts'

/**
 * Creates a copy of the job that runs the same work, and marks the old job as retried. Runs in a transaction that has
 * locked the pipeline.
 */
export async function cloneJob(
  app: TransactionApp,
  job: Job,
  input: { status: 'created' | 'pending'; user_id?: number | null; options?: string | null },
): Promise<Job> {
  const now = timestamp(app.clock)
  const { id: _id, version: _version, ...same } = job
  const status = input.status === 'pending' && job.resource_group_id !== null ? 'waiting_for_resource' : input.status
  await app.db
    .updateTable('ci_jobs')
    .set({ retried: true })
    .where('pipeline_id', '=', job.pipeline_id)
    .where('name', '=', job.name)
    .where('kind', '=', job.kind)
    .execute()
  const made = await app.db
    .insertInto('ci_jobs')
    .values({
      ...same,
      ...NOTHING_YET,
      ...(job.kind === 'job' && newJobToken(app.vault)),
      status,
      user_id: input.user_id === undefined ? job.user_id : input.user_id,
      options: input.options === undefined ? job.options : input.options,
      queued_at: status === 'pending' ? now : null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await announceJobs(app, [made])
  return made
}

/** Initial column values of a job that has not run yet. */
export const NOTHING_YET = {
  retried: false,
  runner_id: null,
  manager_id: null,
  timeout: null,
  failure_reason: null,
  exit_code: null,
  coverage: null,
  trace_size: 0,
  trace_digest: null,
  artifacts_expire_at: null,
  erased_at: null,
  erased_by_id: null,
  target_url: null,
  description: null,
  scheduled_at: null,
  queued_at: null,
  started_at: null,
  finished_at: null,
  contacted_at: null,
} as const
