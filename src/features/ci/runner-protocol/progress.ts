/** What runners report about their jobs: the job goes on, or has ended. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import type { Job } from '../jobs/model.ts'
import { cancelJob, dropJob, succeedJob } from '../jobs/transitions.ts'
import { noteHandedOver } from './runs.ts'

const REASONS = [
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'image_pull_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
  'unknown_failure',
  'api_failure',
  'stuck_or_timeout_failure',
]

interface Ending {
  readonly state?: string | null | undefined
  readonly failure_reason?: string | null | undefined
  readonly exit_code?: number | null | undefined
  readonly requeue?: boolean | null | undefined
}

/** Failures of the runner. Another runner may succeed. */
const REQUEUED = ['runner_system_failure', 'runner_interrupted']

/** Returns the new status of the job. If a concurrent request was faster, its status wins. */
export async function endJob(
  app: App,
  job: Job,
  { state, failure_reason, exit_code, requeue }: Ending,
): Promise<string> {
  const known = failure_reason && REASONS.includes(failure_reason) ? failure_reason : 'unknown_failure'
  const reason = failure_reason ? known : 'script_failure'
  const isGivenBack = requeue === true && REQUEUED.includes(reason)
  const ended =
    job.status === 'canceling'
      ? await cancelJob(app, job, { isForced: true })
      : state === 'success'
        ? await succeedJob(app, job)
        : await dropJob(app, job, { reason, exit_code: exit_code ?? null, isGivenBack })
  if (ended) return ended.status
  const { status } = await app.db
    .selectFrom('ci_jobs')
    .select('status')
    .where('id', '=', job.id)
    .executeTakeFirstOrThrow()
  // The job was canceled meanwhile, and no other request will finish it.
  if (status === 'canceling') return (await cancelJob(app, job, { isForced: true }))?.status ?? status
  return status
}

/** Records that the runner of a job is alive. */
export async function touchJob(app: App, { id }: Job): Promise<void> {
  const now = timestamp(app.clock)
  await transact(app, async (app) => {
    await app.db
      .updateTable('ci_jobs')
      .set({ contacted_at: now, updated_at: now })
      .where('id', '=', id)
      .where('status', 'in', ['running', 'canceling'])
      .execute()
    await noteHandedOver(app, [id])
  })
}

/** The current status of a job, or the known one if the row was deleted. */
export const statusOf = async ({ db }: App, job: Job) =>
  (await db.selectFrom('ci_jobs').select(['status', 'erased_at']).where('id', '=', job.id).executeTakeFirst()) ?? job

/** A job by its id. Bridges and external statuses are no jobs of runners. */
export const findRunnerJob = ({ db }: App, id: number): Promise<Job | undefined> =>
  db.selectFrom('ci_jobs').selectAll().where('id', '=', id).where('kind', '=', 'job').executeTakeFirst()
