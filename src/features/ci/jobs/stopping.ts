/** Cancels jobs: at once, or through the runner if the runner supports graceful cancellation. */
import type { App, TransactionApp } from '../../../context.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { Job } from './model.ts'
import { moveJobs } from './steps.ts'

export interface StopOptions {
  /** Cancel at once, even if the runner supports graceful cancellation. */
  readonly isForced?: boolean
}

const AT_ONCE = 500

/** Returns the jobs that were not finished. Runs in a transaction that has locked their pipeline. */
export async function stopJobs(
  app: TransactionApp,
  ids: readonly number[],
  { isForced = false }: StopOptions = {},
): Promise<Job[]> {
  const graceful = isForced ? new Set<number>() : await endedInOrder(app, ids)
  const canceling = await moveJobs(app, [...graceful], 'canceling')
  const ended = await moveJobs(
    app,
    ids.filter((id) => !graceful.has(id)),
    'canceled',
  )
  return [...canceling, ...ended]
}

/** Jobs whose runner runs `after_script` on cancellation and then reports the end. */
async function endedInOrder({ db }: App, ids: readonly number[]): Promise<Set<number>> {
  const found = new Set<number>()
  for (const some of batchesOf(ids, AT_ONCE)) {
    const running = await db
      .selectFrom('ci_jobs')
      .innerJoin('runner_managers', 'runner_managers.id', 'ci_jobs.manager_id')
      .select(['ci_jobs.id', 'runner_managers.features'])
      .where(inIdList(db, 'ci_jobs.id', idList(db, some)))
      .where('ci_jobs.status', 'in', ['running', 'canceling'])
      .execute()
    for (const { id, features } of running) if (features !== null && isGraceful(features)) found.add(id)
  }
  return found
}

const isGraceful = (features: string) => (JSON.parse(features) as Record<string, unknown>)['cancel_gracefully'] === true
