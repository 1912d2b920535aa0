/** The reads and writes of the worker. */
import { sql } from 'kysely'
import { DAY, after, timestamp } from '../clock.ts'
import { locksRows } from '../store/dialect.ts'
import type { Row, RowChange } from '../store/database.ts'
import { NO_LEASE, backoff, hasLease, isLeaseOver, newLease } from './leases.ts'
import { hasHolderEnded } from './processes.ts'
import { jobRow, type Enqueuer, type Job } from './queue.ts'

export const MAX_ATTEMPTS = 12
/** How long the jobs of a frozen process wait for another one. */
export const LEASE_MS = 20_000
/** A job that has killed its process this often waits for the end of its lease. */
const MOST_KILLED = 5
const EVENTS_AT_ONCE = 100

export interface Claimer extends Enqueuer {
  readonly holder: string
}

/** A claimed job. */
export interface Claim {
  readonly row: Row<'jobs'>
  /** The lease in the row while this process holds the job. */
  lease: string
}

/** `unknown`: this version has no job of that name. */
export type Outcome = 'done' | 'left' | 'unknown' | { readonly error: unknown }

/** During an upgrade, a process of the newer version runs such a job. After a day, it fails like any other. */
const UNKNOWN_MS = DAY
const UNKNOWN_AGAIN_MS = 10_000
export const mayBeNewer = (app: Enqueuer, { created_at }: Row<'jobs'>): boolean =>
  created_at > after(app.clock, -UNKNOWN_MS)

export type EventRow = Pick<Row<'events'>, 'name' | 'payload' | 'described' | 'created_at'>
export type DispatchedEvent = Pick<Row<'events'>, 'id' | 'name' | 'payload' | 'described' | 'created_at'>

const unmarked = (app: Enqueuer) =>
  app.db.selectFrom('events').where('dispatched_at', 'is', null).orderBy('id').limit(EVENTS_AT_ONCE)

export const newEvents = (app: Enqueuer): Promise<EventRow[]> =>
  unmarked(app).select(['name', 'payload', 'described', 'created_at']).execute()

/**
 * Assigns positions to new events and creates a job for each subscriber. One process at a time, so that positions are
 * in commit order. Returns the events in that order; if the batch is full, there may be more.
 */
export async function dispatchEvents(
  app: Enqueuer,
  reactionsTo: (event: EventRow) => readonly Pick<Job<never, never>, 'name'>[],
): Promise<{ events: DispatchedEvent[]; isMore: boolean }> {
  const { last } = await app.db
    .selectFrom('event_positions')
    .select('last')
    .$if(locksRows(app.db), (q) => q.forUpdate())
    .executeTakeFirstOrThrow()
  const ids = unmarked(app).select((eb) => [
    'id',
    sql<number>`${last} + row_number() over (order by ${eb.ref('id')})`.as('place'),
  ])
  const events = await app.db
    .updateTable('events')
    .from(ids.as('unmarked'))
    .set((eb) => ({ dispatched_at: timestamp(app.clock), position: eb.ref('unmarked.place') }))
    .whereRef('events.id', '=', 'unmarked.id')
    .returning(['events.id', 'name', 'payload', 'described', 'created_at'])
    .execute()
  events.sort((a, b) => a.id - b.id)
  if (events.length > 0)
    await app.db
      .updateTable('event_positions')
      .set({ last: last + events.length })
      .execute()
  const rows = events.flatMap((event) =>
    reactionsTo(event).map((job) => ({
      ...jobRow(app, job, event.payload),
      event_id: event.id,
      event_at: event.created_at,
    })),
  )
  if (rows.length > 0) await app.db.insertInto('jobs').values(rows).execute()
  return { events, isMore: events.length === EVENTS_AT_ONCE }
}

const due = (app: Enqueuer) => {
  const now = timestamp(app.clock)
  return app.db
    .selectFrom('jobs')
    .where('state', '=', 'ready')
    .where('run_at', '<=', now)
    .where((eb) =>
      eb.or([isLeaseOver(now), eb.and([eb('attempts', '<', MOST_KILLED), hasHolderEnded('lease_holder')])]),
    )
    .orderBy('run_at')
    .orderBy('id')
}

export async function isAnyDue(app: Enqueuer, except: readonly string[] = []): Promise<boolean> {
  const first = due(app)
    .$if(except.length > 0, (query) => query.where('name', 'not in', except))
    .select('id')
    .limit(1)
  return (await first.executeTakeFirst()) !== undefined
}

export interface Hands {
  readonly free: number
  /** Of these, how many may run long jobs. */
  readonly freeForLong: number
  readonly long: readonly string[]
}

/** Claims the jobs that have been due the longest, up to the number of free workers. */
export async function claimJobs(app: Claimer, { free, freeForLong, long }: Hands): Promise<Row<'jobs'>[]> {
  const next = async (isLong: boolean, most: number) => {
    const which = isLong ? 'in' : 'not in'
    return due(app)
      .$if(long.length > 0, (query) => query.where('name', which, long))
      .select(['id', 'run_at'])
      .limit(most)
      .$if(locksRows(app.db), (q) => q.forUpdate().skipLocked())
      .execute()
  }
  const short = await next(false, free)
  const longer = long.length > 0 && freeForLong > 0 ? await next(true, Math.min(free, freeForLong)) : []
  const chosen = [...short, ...longer].toSorted(byAge).slice(0, free)
  if (chosen.length === 0) return []
  const rows = await app.db
    .updateTable('jobs')
    .set((eb) => ({ ...newLease(app, LEASE_MS), attempts: eb('attempts', '+', 1) }))
    .where(
      'id',
      'in',
      chosen.map(({ id }) => id),
    )
    .returningAll()
    .execute()
  return rows.toSorted(byAge)
}

type Aging = Pick<Row<'jobs'>, 'id' | 'run_at'>
const byAge = (a: Aging, b: Aging) => (a.run_at === b.run_at ? a.id - b.id : a.run_at < b.run_at ? -1 : 1)

/** False if another process holds the job by now. */
export function renewLease(app: Enqueuer, claim: Claim, lease: string): Promise<boolean> {
  return change(app, claim, { lease_until: lease })
}

/** False if another process held the job by then. */
export async function endJob(
  app: Enqueuer,
  claim: Claim,
  outcome: Outcome,
  every: number | undefined,
): Promise<boolean> {
  const { attempts } = claim.row
  // Undo the attempt, so that the next process takes the job at once.
  if (outcome === 'left') return change(app, claim, { ...NO_LEASE, attempts: attempts - 1 })
  if (outcome === 'unknown')
    return change(app, claim, { ...NO_LEASE, attempts: attempts - 1, run_at: after(app.clock, UNKNOWN_AGAIN_MS) })
  if (outcome !== 'done') return change(app, claim, failure(app, attempts, outcome.error, every !== undefined))
  if (every === undefined) return remove(app, claim)
  return change(app, claim, { run_at: after(app.clock, every), ...NO_LEASE, attempts: 0, last_error: null })
}

/** Counts attempts with a result. A job that a process released, or did not know, was no attempt. */
export async function countTries(app: Enqueuer, outcomes: readonly Outcome[]): Promise<void> {
  const tries = outcomes.filter((outcome) => outcome !== 'left' && outcome !== 'unknown')
  if (tries.length === 0) return
  const failed = tries.filter((outcome) => outcome !== 'done').length
  await app.db
    .updateTable('job_totals')
    .set((eb) => ({ processed: eb('processed', '+', tries.length), failed: eb('failed', '+', failed) }))
    .execute()
}

/** A recurring job never becomes a dead letter: the cause of a failure may be gone tomorrow. */
function failure(app: Enqueuer, attempts: number, error: unknown, recurs: boolean): RowChange<'jobs'> {
  return {
    state: attempts >= MAX_ATTEMPTS && !recurs ? 'dead' : 'ready',
    run_at: after(app.clock, backoff(attempts, 1_000)),
    ...NO_LEASE,
    last_error: error instanceof Error ? error.message : String(error),
  }
}

async function change(app: Enqueuer, { row, lease }: Claim, values: RowChange<'jobs'>): Promise<boolean> {
  const { numUpdatedRows } = await app.db
    .updateTable('jobs')
    .set(values)
    .where('id', '=', row.id)
    .where(hasLease({ ...row, lease_until: lease }))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

async function remove(app: Enqueuer, { row, lease }: Claim): Promise<boolean> {
  const { numDeletedRows } = await app.db
    .deleteFrom('jobs')
    .where('id', '=', row.id)
    .where(hasLease({ ...row, lease_until: lease }))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Inserts a row for each recurring job at the first start, and revives those that an earlier version gave up. */
export async function ensureRecurring(app: Enqueuer, jobs: readonly Pick<Job<never, never>, 'name' | 'every'>[]) {
  const rows = jobs.flatMap((job) =>
    job.every === undefined ? [] : [jobRow(app, job, '{}', { key: job.name, delay: job.every })],
  )
  if (rows.length === 0) return
  await app.db
    .insertInto('jobs')
    .values(rows)
    .onConflict((c) => c.column('key').doUpdateSet({ state: 'ready' }).where('jobs.state', '=', 'dead'))
    .execute()
}
