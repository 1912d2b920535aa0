/** Dead letters: retries or deletes jobs that failed for the last time. */
import { timestamp } from '../clock.ts'
import type { Row } from '../store/database.ts'
import { NO_LEASE } from './leases.ts'
import type { Enqueuer } from './queue.ts'

/** Starts again with the first attempt, at once. False if the job is not a dead letter. */
export async function retryJob(
  { db, clock, jobs, onCommit }: Enqueuer,
  { id }: Pick<Row<'jobs'>, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ state: 'ready', attempts: 0, run_at: timestamp(clock), ...NO_LEASE })
    .where('id', '=', id)
    .where('state', '=', 'dead')
    .executeTakeFirst()
  onCommit(() => jobs.wake())
  return Number(numUpdatedRows) > 0
}

export async function discardJob({ db }: Enqueuer, { id }: Pick<Row<'jobs'>, 'id'>): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('state', '=', 'dead')
    .executeTakeFirst()
  return Number(numDeletedRows) > 0
}
