/**
 * Turns new events into jobs of their subscribers, claims due jobs and runs a few at a time. Several processes may each
 * run a worker over the same store. Each tick writes all results in one transaction, which does not wait for the disk.
 * If a power cut undoes it, events are dispatched and jobs are run once more.
 */
import { after, type Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Events, Row, Store } from '../store/database.ts'
import { transact } from '../store/transact.ts'
import {
  LEASE_MS,
  MAX_ATTEMPTS,
  addReactions,
  claimJobs,
  countTries,
  dispatchEvents,
  endJob,
  ensureRecurring,
  isAnyDue,
  mayBeNewer,
  newEvents,
  removeDone,
  renewLease,
  type Claim,
  type Claimer,
  type DispatchedEvent,
  type EventRow,
  type Hands,
  type Outcome,
} from './bookkeeping.ts'
import { startLoop, type Loop } from './loop.ts'
import type { Job } from './queue.ts'

/** Jobs that a process runs in parallel. */
export const CONCURRENCY = 4
const LONG_CONCURRENCY = 2
const LEASE_RENEWAL_MS = 5_000
/** Events without subscribers are marked in batches: after so many, or after a moment. */
const UNWANTED_AT_ONCE = 20
const UNWANTED_MS = 1_000

/** Each subscriber gets a job of its own, so each retries alone. */
export interface Subscription<A> extends Job<A, never> {
  readonly event: keyof Events
  /** False: no job is created for this event. */
  when?(payload: never): boolean
}

interface WorkerApp extends Claimer {
  readonly log: Log
  readonly clock: Clock
  readonly store: Store
}

// oxlint-disable-next-line no-explicit-any -- the queue contains jobs of every payload
type AnyJob<A> = Job<A, any>

interface Locked extends Claim {
  /** Aborts when the process is about to end, or when another process has claimed the job. */
  readonly abort: AbortController
  work: Promise<void>
  /** Set when the job has ended. */
  outcome: Outcome | null
  /** Another process has claimed the job. */
  isLost: boolean
}

const updatesOf = ({ event_id, event_at, created_at }: Row<'jobs'>) => ({
  source: event_id === null ? null : `event ${event_id}`,
  at: event_at ?? created_at,
})

const NOTHING_DISPATCHED = { claimed: [], isMore: false }

/** The hands that are left when these jobs run. */
const handsBeside = ({ free, freeForLong, long }: Hands, jobs: readonly Row<'jobs'>[]): Hands => ({
  free: free - jobs.length,
  freeForLong: freeForLong - jobs.filter(({ name }) => long.includes(name)).length,
  long,
})

interface Work<A> {
  readonly jobs: readonly AnyJob<A>[]
  readonly subscriptions: readonly Subscription<A>[]
  /** Further work for events with messages, in the transaction that dispatches them. */
  readonly distribute?: (app: A, events: readonly DispatchedEvent[]) => Promise<void>
  /** Live readers of the log: while any is connected, events are not batched. */
  readonly audience?: { isThere(app: A): boolean; tell(app: A): Promise<void> }
}

export function startWorker<A extends WorkerApp>(app: A, { jobs, subscriptions, distribute, audience }: Work<A>): Loop {
  const known = new Map<string, AnyJob<A>>([...jobs, ...subscriptions].map((job) => [job.name, job]))
  const subscribers = Map.groupBy(subscriptions, ({ event }) => event as string)
  const long = [...known.values()].filter((job) => job.long).map((job) => job.name)
  const log = app.log.child({ part: 'jobs' })
  const relaxed = { ...app, db: app.store.relaxed }
  /** Jobs that run, or have ended but are not recorded yet. */
  const locked = new Set<Locked>()
  let areRecurringSet = false

  const reactionsTo = ({ name, payload }: EventRow) =>
    (subscribers.get(name) ?? []).filter(({ when }) => !when || when(JSON.parse(payload) as never))
  const isHandled = (event: EventRow) => event.described || reactionsTo(event).length > 0

  function handsFree() {
    const running = [...locked].filter(({ outcome }) => outcome === null)
    const runningLong = running.filter(({ row }) => long.includes(row.name))
    return { free: CONCURRENCY - running.length, freeForLong: LONG_CONCURRENCY - runningLong.length, long }
  }

  async function run(one: Locked): Promise<void> {
    const { row, abort } = one
    try {
      const job = known.get(row.name)
      if (!job && !mayBeNewer(app, row)) throw new Error(`no job is named ${row.name}`)
      await job?.handle(app, JSON.parse(row.payload), abort.signal, updatesOf(row))
      one.outcome = job ? 'done' : 'unknown'
    } catch (error) {
      one.outcome = abort.signal.aborted ? 'left' : { error }
      if (one.outcome !== 'left') reportFailure(row, error)
    }
    loop.wake()
  }

  function reportFailure({ id, name, attempts }: Row<'jobs'>, error: unknown): void {
    const level = attempts < MAX_ATTEMPTS ? 'warn' : 'error'
    log[level]({ err: error, job: name, id, attempt: attempts }, 'job failed')
  }

  /** The work of a tick; null for none. These reads are cheap, and only a result leads to a write. */
  async function agenda(isResting: boolean) {
    const ended = [...locked].filter(({ outcome }) => outcome !== null)
    const old = after(app.clock, LEASE_MS - LEASE_RENEWAL_MS)
    const aging = [...locked].filter(({ outcome, lease, isLost }) => outcome === null && lease <= old && !isLost)
    const events = isResting ? [] : await newEvents(app)
    const isOld = events[0] !== undefined && events[0].created_at <= after(app.clock, -UNWANTED_MS)
    const isFollowed = events.length > 0 && (audience?.isThere(app) ?? false)
    const isNewEvent = events.length >= UNWANTED_AT_ONCE || isOld || isFollowed || events.some(isHandled)
    const hands = handsFree()
    const isDue = !isResting && hands.free > 0 && (await isAnyDue(app, hands.freeForLong > 0 ? [] : long))
    if (ended.length === 0 && aging.length === 0 && !isNewEvent && !isDue) return null
    return { ended, aging, isNewEvent, isDue, hands }
  }

  /** If the store is unavailable or locked, a later tick retries. */
  async function setRecurring(): Promise<void> {
    await transact(relaxed, (app) => ensureRecurring(app, jobs))
    areRecurringSet = true
  }

  async function tick({ resting, stopping }: { resting: boolean; stopping: boolean }): Promise<void> {
    if (!areRecurringSet && !stopping) await setRecurring()
    const found = await agenda(resting)
    if (!found) return
    const { ended, aging, isNewEvent, isDue, hands } = found
    const lease = after(app.clock, LEASE_MS)
    const { claimed, lost, isMore } = await transact(relaxed, async (app) => {
      const lost = await recordEnded(app, ended)
      for (const one of aging) if (!(await renewLease(app, one, lease))) lost.push(one)
      const due = isDue ? await claimJobs(app, hands) : []
      const dispatched = isNewEvent ? await dispatch(app, handsBeside(hands, due)) : NOTHING_DISPATCHED
      return { lost, isMore: dispatched.isMore, claimed: [...due, ...dispatched.claimed] }
    })
    for (const one of aging) one.lease = lease
    for (const one of ended) locked.delete(one)
    for (const one of lost) lose(one)
    // Flush first: a handler may delete what a power cut would bring back.
    if (claimed.length > 0) await app.store.flushed()
    for (const row of claimed) start(row)
    if (isMore) loop.wake()
  }

  /** Returns the jobs that another process held by then. */
  async function recordEnded(app: A, ended: readonly Locked[]): Promise<Locked[]> {
    const own = ended.filter((one) => !one.isLost)
    const isRemoved = (one: Locked) => one.outcome === 'done' && everyOf(one) === undefined
    const lost = await removeDone(app, own.filter(isRemoved))
    for (const one of own) if (!isRemoved(one) && !(await endJob(app, one, one.outcome!, everyOf(one)))) lost.push(one)
    await countTries(
      app,
      own.filter((one) => !lost.includes(one)).map(({ outcome }) => outcome!),
    )
    return lost
  }

  /** Creates the jobs of new events, and claims as many as there are hands for. */
  async function dispatch(app: A, hands: Hands): Promise<{ claimed: Row<'jobs'>[]; isMore: boolean }> {
    const { events, isMore } = await dispatchEvents(app)
    const reactions = events.flatMap((event) => reactionsTo(event).map((job) => ({ event, job })))
    const claimed = await addReactions(app, reactions, hands)
    const described = events.filter((event) => event.described)
    if (described.length > 0) await distribute?.(app, described)
    if (events.length > 0) await audience?.tell(app)
    return { claimed, isMore }
  }

  const everyOf = ({ row }: Locked) => known.get(row.name)?.every

  function start(row: Row<'jobs'>): void {
    const abort = new AbortController()
    const one: Locked = { row, lease: row.lease_until!, abort, work: Promise.resolve(), outcome: null, isLost: false }
    locked.add(one)
    one.work = run(one)
  }

  /** The lease expired while this process was frozen. */
  function lose(one: Locked): void {
    const { id, name, attempts } = one.row
    one.isLost = true
    log.warn({ job: name, id, attempt: attempts }, 'job was claimed by another worker')
    one.abort.abort(new Error('another worker has claimed the job'))
  }

  const loop = startLoop({
    tick,
    running: () => [...locked].map(({ work }) => work),
    isAnyDue: async () => (await isAnyDue(app)) || (await newEvents(app)).some(isHandled),
    end() {
      for (const { abort } of locked) abort.abort(new Error('the process is ending'))
    },
    report: (error) => log.error({ err: error }, 'jobs could not be noted'),
  })
  return loop
}
