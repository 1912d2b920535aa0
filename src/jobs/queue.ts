/**
 * The job queue: work that outlives its request. A job is a row of `jobs`, claimed under a lease and run at least once,
 * so a handler must be idempotent. A failed job is retried with backoff; after the last attempt the row stays as a dead
 * letter.
 */
import type { Generated } from 'kysely'
import { after, timestamp, type Clock } from '../clock.ts'
import type { NewRow } from '../store/database.ts'
import type { Transactable } from '../store/transact.ts'

declare module '../store/database.ts' {
  interface Tables {
    jobs: {
      id: Generated<number>
      name: string
      /** At most one row with the same key: enqueuing it again changes nothing. */
      key: string | null
      payload: string
      state: 'ready' | 'dead'
      attempts: number
      run_at: string
      lease_until: string | null
      /** The process that holds the lease. */
      lease_holder: Generated<string | null>
      last_error: string | null
      created_at: string
      /** Only for jobs of subscribers: the event and its time. */
      event_id: number | null
      event_at: string | null
    }
    /** One row: the number of attempts since the instance was created, and of failed ones. */
    job_totals: { processed: number; failed: number }
  }
}

/** `A` is the App; the queue knows only the parts that it needs itself. */
export interface Job<A, P> {
  readonly name: string
  /** A recurring job: run again this long after each success. Its payload is empty. */
  readonly every?: number
  /** Finishes the work of a killed process. It runs at once, before its time, when a process is found dead. */
  readonly recovers?: boolean
  /** May take minutes: only some slots of a worker run long jobs, so that short jobs never wait for them. */
  readonly long?: boolean
  /** The signal aborts when the process is about to end. A handler that then throws is run again by another process. */
  handle(app: A, payload: P, signal?: AbortSignal, event?: EventSource): Promise<void>
}

/** The event that a subscriber handles. */
export interface EventSource {
  /** Equal each time the event is delivered; null if it is unknown. */
  readonly source: string | null
  /** The time of the event. */
  readonly at: string
}

export interface Enqueuer extends Transactable {
  readonly clock: Clock
  readonly jobs: { wake(): void }
}

interface When {
  readonly key?: string | null
  readonly delay?: number
}

/** `payload` is JSON. */
export function jobRow(
  { clock }: { clock: Clock },
  { name }: { name: string },
  payload: string,
  { key = null, delay = 0 }: When = {},
): NewRow<'jobs'> {
  return {
    name,
    key,
    payload,
    state: 'ready',
    attempts: 0,
    run_at: after(clock, delay),
    lease_until: null,
    last_error: null,
    created_at: timestamp(clock),
  }
}

export async function enqueue<P>(
  app: Enqueuer,
  job: Pick<Job<never, P>, 'name'>,
  payload: P,
  when: When = {},
): Promise<void> {
  await app.db
    .insertInto('jobs')
    .values(jobRow(app, job, JSON.stringify(payload), when))
    .onConflict((c) => c.column('key').doNothing())
    .execute()
  app.onCommit(() => app.jobs.wake())
}

/** Enqueues several jobs of one kind in one statement; only for short lists. */
export async function enqueueAll<P>(
  app: Enqueuer,
  job: Pick<Job<never, P>, 'name'>,
  payloads: readonly P[],
): Promise<void> {
  if (payloads.length === 0) return
  const rows = payloads.map((payload) => jobRow(app, job, JSON.stringify(payload)))
  await app.db.insertInto('jobs').values(rows).execute()
  app.onCommit(() => app.jobs.wake())
}
