/**
 * Work that outlives its request: a row in the `jobs` table, claimed under a lease and run at least once, so a handler
 * must bear being run again. A failure backs off and tries again; after the last try the row stays as a dead letter.
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
      /** Of reactions: the event and when it happened. */
      event_id: number | null
      event_at: string | null
    }
    /** One row: tries since the instance began, and those that failed. */
    job_totals: { processed: number; failed: number }
  }
}

/** `A` is the App; the kit knows nothing of it but what the queue itself needs. */
export interface Job<A, P> {
  readonly name: string
  /** A recurring job: run again this long after each success. Its payload is empty. */
  readonly every?: number
  /** It finishes what a killed process left: it runs at once, however late it was to run, when a process is found gone. */
  readonly recovers?: boolean
  /** May take minutes: only some of a worker's hands do such work, so that short work never waits for it. */
  readonly long?: boolean
  /** The signal comes when the process is about to end: whoever heeds it and throws is run again elsewhere. */
  handle(app: A, payload: P, signal?: AbortSignal, event?: EventSource): Promise<void>
}

/** Which event a reaction is about. */
export interface EventSource {
  /** The same each time it is told; null where that is not known. */
  readonly source: string | null
  /** When it happened. */
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

/** Several of the same kind, in one statement: not for so many that it grows long. */
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
