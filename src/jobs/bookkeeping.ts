/** The reads and writes of the worker. */
import { sql } from 'kysely'
import { DAY, after, timestamp } from '../clock.ts'
import type { Db, Row, RowChange } from '../store/database.ts'
import { idList, inIdList, inTextList, locksRows, textList } from '../store/dialect.ts'
import { hotInsert, hotQuery } from '../store/hot.ts'
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

const unmarked = (db: Db) =>
  db.selectFrom('events').where('dispatched_at', 'is', null).orderBy('id').limit(EVENTS_AT_ONCE)

const unmarkedEvents = hotQuery((db, _none: object) =>
  unmarked(db).select(['name', 'payload', 'described', 'created_at']),
)

export const newEvents = async (app: Enqueuer): Promise<EventRow[]> => unmarkedEvents(app.db, {})

const lastPosition = hotQuery((db, _none: object) =>
  db
    .selectFrom('event_positions')
    .select('last')
    .$if(locksRows(db), (q) => q.forUpdate()),
)

const markEvents = hotQuery((db, p: { last: number; now: string }) => {
  const ids = unmarked(db).select((eb) => [
    'id',
    sql<number>`${p.last} + row_number() over (order by ${eb.ref('id')})`.as('place'),
  ])
  return db
    .updateTable('events')
    .from(ids.as('unmarked'))
    .set((eb) => ({ dispatched_at: p.now, position: eb.ref('unmarked.place') }))
    .whereRef('events.id', '=', 'unmarked.id')
    .returning(['events.id', 'name', 'payload', 'described', 'created_at'])
})

const movePosition = hotQuery((db, p: { last: number }) => db.updateTable('event_positions').set({ last: p.last }))

/**
 * Assigns positions to new events. One process at a time, so that positions are in commit order. Returns the events in
 * that order; if the batch is full, there may be more.
 */
export async function dispatchEvents(app: Enqueuer): Promise<{ events: DispatchedEvent[]; isMore: boolean }> {
  const { last } = (await lastPosition(app.db, {}))[0]!
  const events = [...(await markEvents(app.db, { last, now: timestamp(app.clock) }))].sort((a, b) => a.id - b.id)
  if (events.length > 0) await movePosition(app.db, { last: last + events.length })
  return { events, isMore: events.length === EVENTS_AT_ONCE }
}

const insertJobs = hotInsert('jobs', [
  'name',
  'payload',
  'state',
  'attempts',
  'run_at',
  'lease_until',
  'lease_holder',
  'created_at',
  'event_id',
  'event_at',
])

type Reaction = { readonly event: DispatchedEvent; readonly job: Pick<Job<never, never>, 'name'> }

/** Creates the jobs of subscribers. Returns those that this process claims, up to the number of free workers. */
export async function addReactions(
  app: Claimer,
  reactions: readonly Reaction[],
  { free, freeForLong, long }: Hands,
): Promise<Row<'jobs'>[]> {
  const lease = newLease(app, LEASE_MS)
  let [left, leftForLong] = [free, freeForLong]
  const rows = reactions.map(({ event, job }) => {
    const isLong = long.includes(job.name)
    const isClaimed = left > 0 && (!isLong || leftForLong > 0)
    if (isClaimed) left--
    if (isClaimed && isLong) leftForLong--
    const state = isClaimed ? { ...lease, attempts: 1 } : NO_LEASE
    return { ...jobRow(app, job, event.payload), event_id: event.id, event_at: event.created_at, ...state }
  })
  return (await insertJobs(app.db, rows)).filter(({ lease_until }) => lease_until !== null)
}

const isDue = (now: string) => sql<boolean>`(state = 'ready' and run_at <= ${now} and (${isLeaseOver(now)}
  or (attempts < ${sql.lit(MOST_KILLED)} and ${hasHolderEnded('lease_holder')})))`

const due = (db: Db, now: string) => db.selectFrom('jobs').where(isDue(now)).orderBy('run_at').orderBy('id')

const firstDue = hotQuery((db, p: { now: string; except: string }) =>
  due(db, p.now)
    .where(sql<boolean>`not ${inTextList(db, 'name', p.except)}`)
    .select('id')
    .limit(1),
)

export async function isAnyDue(app: Enqueuer, except: readonly string[] = []): Promise<boolean> {
  const first = await firstDue(app.db, { now: timestamp(app.clock), except: textList(app.db, except) })
  return first.length > 0
}

export interface Hands {
  readonly free: number
  /** Of these, how many may run long jobs. */
  readonly freeForLong: number
  readonly long: readonly string[]
}

const nextShort = hotQuery((db, p: { now: string; long: string; most: number }) =>
  due(db, p.now)
    .where(sql<boolean>`not ${inTextList(db, 'name', p.long)}`)
    .select(['id', 'run_at'])
    .limit(p.most)
    .$if(locksRows(db), (q) => q.forUpdate().skipLocked()),
)
const nextLong = hotQuery((db, p: { now: string; long: string; most: number }) =>
  due(db, p.now)
    .where(inTextList(db, 'name', p.long))
    .select(['id', 'run_at'])
    .limit(p.most)
    .$if(locksRows(db), (q) => q.forUpdate().skipLocked()),
)
const claim = hotQuery((db, p: { ids: string; lease_until: string; lease_holder: string }) =>
  db
    .updateTable('jobs')
    .set((eb) => ({ lease_until: p.lease_until, lease_holder: p.lease_holder, attempts: eb('attempts', '+', 1) }))
    .where(inIdList(db, 'id', p.ids))
    .returningAll(),
)

/** Claims the jobs that have been due the longest, up to the number of free workers. */
export async function claimJobs(app: Claimer, { free, freeForLong, long }: Hands): Promise<Row<'jobs'>[]> {
  const { db } = app
  const among = { now: timestamp(app.clock), long: textList(db, long) }
  const short = await nextShort(db, { ...among, most: free })
  const most = Math.min(free, freeForLong)
  const longer = long.length > 0 && most > 0 ? await nextLong(db, { ...among, most }) : []
  const chosen = [...short, ...longer].toSorted(byAge).slice(0, free)
  if (chosen.length === 0) return []
  const ids = idList(
    db,
    chosen.map(({ id }) => id),
  )
  const rows = await claim(db, { ids, ...newLease(app, LEASE_MS) })
  return [...rows].sort(byAge)
}

type Aging = Pick<Row<'jobs'>, 'id' | 'run_at'>
const byAge = (a: Aging, b: Aging) => (a.run_at === b.run_at ? a.id - b.id : a.run_at < b.run_at ? -1 : 1)

/** False if another process holds the job by now. */
export function renewLease(app: Enqueuer, claim: Claim, lease: string): Promise<boolean> {
  return change(app, claim, { lease_until: lease })
}

/** For a job that did not just succeed, or recurs. False if another process held the job by then. */
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
  return change(app, claim, { run_at: after(app.clock, every ?? 0), ...NO_LEASE, attempts: 0, last_error: null })
}

const removeAll = hotQuery((db, p: { ids: string; lease_until: string; lease_holder: string }) =>
  db
    .deleteFrom('jobs')
    .where(inIdList(db, 'id', p.ids))
    .where(hasLease(p))
    .returning('id'),
)

/** Removes jobs that have succeeded, one statement per lease. Returns the claims that another process held by then. */
export async function removeDone<C extends Claim>({ db }: Enqueuer, claims: readonly C[]): Promise<C[]> {
  const lost: C[] = []
  for (const [lease_until, some] of Map.groupBy(claims, ({ lease }) => lease)) {
    const ids = some.map(({ row }) => row.id)
    const removed = await removeAll(db, { ids: idList(db, ids), lease_until, lease_holder: some[0]!.row.lease_holder! })
    const gone = new Set(removed.map(({ id }) => id))
    lost.push(...some.filter(({ row }) => !gone.has(row.id)))
  }
  return lost
}

const addTries = hotQuery((db, p: { tries: number; failed: number }) =>
  db.updateTable('job_totals').set((eb) => ({
    processed: eb('processed', '+', p.tries),
    failed: eb('failed', '+', p.failed),
  })),
)

/** Counts attempts with a result. A job that a process released, or did not know, was no attempt. */
export async function countTries(app: Enqueuer, outcomes: readonly Outcome[]): Promise<void> {
  const tries = outcomes.filter((outcome) => outcome !== 'left' && outcome !== 'unknown')
  if (tries.length === 0) return
  const failed = tries.filter((outcome) => outcome !== 'done').length
  await addTries(app.db, { tries: tries.length, failed })
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
