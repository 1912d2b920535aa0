/**
 * Turns new events into jobs of their subscribers, claims due jobs and runs them, a few at a time. Several processes may
 * run a worker over the same store. All there is to note is noted together, in one transaction a turn, that nobody waits
 * for the disk to keep: should a power cut undo it, events are handed out and jobs run once more.
 */
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import { after, type Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Events, Row, Store } from '../store/database.ts'
import { transact } from '../store/transact.ts'
import {
  LEASE_MS,
  MAX_ATTEMPTS,
  claimJobs,
  countTries,
  dispatchEvents,
  endJob,
  ensureRecurring,
  isAnyDue,
  newEvents,
  renewLease,
  type Claim,
  type Claimer,
  type DispatchedEvent,
  type EventRow,
  type Outcome,
} from './bookkeeping.ts'
import type { Job } from './queue.ts'

/** Jobs a process runs side by side. */
export const CONCURRENCY = 4
const LONG_CONCURRENCY = 2
const LEASE_RENEWAL_MS = 5_000
const IDLE_MS = 1_000
/** Events that nobody wants are marked with others, once there are so many, or after a moment. */
const UNWANTED_AT_ONCE = 20
const UNWANTED_MS = 1_000

/** A subscriber's reaction is a job of its own, so each retries alone. */
export interface Subscription<A> extends Job<A, never> {
  readonly event: keyof Events
  /** False of an event that is nothing to it: no job is made of that one. */
  when?(payload: never): boolean
}

interface WorkerApp extends Claimer {
  readonly log: Log
  readonly clock: Clock
  readonly store: Store
}

export interface Worker {
  wake(): void
  /** Runs everything that is due now, then resolves; for tests, and never beside a running loop's own work. */
  settle(): Promise<void>
  /** Rests until the returned function is called. */
  pause(): Promise<() => void>
  /** Stops claiming and waits for what is running. */
  stop(): Promise<void>
}

// oxlint-disable-next-line no-explicit-any -- the queue holds jobs of every payload
type AnyJob<A> = Job<A, any>

interface Locked extends Claim {
  /** Comes when the process is about to end, or when the job has become somebody else's. */
  readonly abort: AbortController
  work: Promise<void>
  /** Once it has ended. */
  outcome: Outcome | null
  /** It is somebody else's. */
  isLost: boolean
}

const updatesOf = ({ event_id, event_at, created_at }: Row<'jobs'>) => ({
  source: event_id === null ? null : `event ${event_id}`,
  at: event_at ?? created_at,
})

interface Work<A> {
  readonly jobs: readonly AnyJob<A>[]
  readonly subscriptions: readonly Subscription<A>[]
  /** What else becomes of events that have messages, in the step that hands them out. */
  readonly distribute?: (app: A, events: readonly DispatchedEvent[]) => Promise<void>
  /** Whoever follows the log as it grows: while somebody does, no event waits for others. */
  readonly audience?: { isThere(app: A): boolean; tell(app: A): Promise<void> }
}

export function startWorker<A extends WorkerApp>(
  app: A,
  { jobs, subscriptions, distribute, audience }: Work<A>,
): Worker {
  const known = new Map<string, AnyJob<A>>([...jobs, ...subscriptions].map((job) => [job.name, job]))
  const subscribers = Map.groupBy(subscriptions, ({ event }) => event as string)
  const long = [...known.values()].filter((job) => job.long).map((job) => job.name)
  const log = app.log.child({ part: 'jobs' })
  const relaxed = { ...app, db: app.store.relaxed }
  /** Running, or ended and not yet noted. */
  const held = new Set<Locked>()
  let stopping = false
  let paused = false
  let turn: Promise<void> = Promise.resolve()
  let areRecurringSet = false
  let isNextTick = false
  let timer: NodeJS.Timeout | undefined

  const reactionsTo = ({ name, payload }: EventRow) =>
    (subscribers.get(name) ?? []).filter(({ when }) => !when || when(JSON.parse(payload) as never))
  const isWanted = (event: EventRow) => event.described || reactionsTo(event).length > 0

  function handsFree() {
    const running = [...held].filter(({ outcome }) => outcome === null)
    const runningLong = running.filter(({ row }) => long.includes(row.name))
    return { free: CONCURRENCY - running.length, freeForLong: LONG_CONCURRENCY - runningLong.length, long }
  }

  async function run(one: Locked): Promise<void> {
    const { row, abort } = one
    try {
      const job = known.get(row.name)
      if (!job) throw new Error(`no job is named ${row.name}`)
      await job.handle(app, JSON.parse(row.payload), abort.signal, updatesOf(row))
      one.outcome = 'done'
    } catch (error) {
      one.outcome = abort.signal.aborted ? 'left' : { error }
      if (one.outcome !== 'left') reportFailure(row, error)
    }
    wake()
  }

  function reportFailure({ id, name, attempts }: Row<'jobs'>, error: unknown): void {
    const level = attempts < MAX_ATTEMPTS ? 'warn' : 'error'
    log[level]({ err: error, job: name, id, attempt: attempts }, 'job failed')
  }

  /** What a turn has to do; null for nothing. The reads cost little: only what is found makes this a write. */
  async function agenda() {
    const isResting = stopping || paused
    const ended = [...held].filter(({ outcome }) => outcome !== null)
    const old = after(app.clock, LEASE_MS - LEASE_RENEWAL_MS)
    const aging = [...held].filter(({ outcome, lease, isLost }) => outcome === null && lease <= old && !isLost)
    const events = isResting ? [] : await newEvents(app)
    const isOld = events[0] !== undefined && events[0].created_at <= after(app.clock, -UNWANTED_MS)
    const isFollowed = events.length > 0 && (audience?.isThere(app) ?? false)
    const isNewEvent = events.length >= UNWANTED_AT_ONCE || isOld || isFollowed || events.some(isWanted)
    const hands = handsFree()
    const isDue = !isResting && hands.free > 0 && (await isAnyDue(app, hands.freeForLong > 0 ? [] : long))
    if (ended.length === 0 && aging.length === 0 && !isNewEvent && !isDue) return null
    return { ended, aging, isNewEvent, hands: isDue || isNewEvent ? hands : null }
  }

  /** Where the store is away or locked, a later turn does it. */
  async function setRecurring(): Promise<void> {
    await transact(relaxed, (app) => ensureRecurring(app, jobs))
    areRecurringSet = true
  }

  async function takeTurn(): Promise<void> {
    isNextTick = false
    if (!areRecurringSet && !stopping) await setRecurring()
    const found = await agenda()
    if (!found) return
    const { ended, aging, isNewEvent, hands } = found
    const lease = after(app.clock, LEASE_MS)
    const { claimed, lost, isMore } = await transact(relaxed, async (app) => {
      const lost: Locked[] = []
      for (const one of ended) if (!one.isLost && !(await endJob(app, one, one.outcome!, everyOf(one)))) lost.push(one)
      await countTries(
        app,
        ended.filter((one) => !one.isLost && !lost.includes(one)).map(({ outcome }) => outcome!),
      )
      for (const one of aging) if (!(await renewLease(app, one, lease))) lost.push(one)
      const isMore = isNewEvent && (await dispatch(app))
      return { lost, isMore, claimed: hands && hands.free > 0 ? await claimJobs(app, hands) : [] }
    })
    for (const one of aging) one.lease = lease
    for (const one of ended) held.delete(one)
    for (const one of lost) lose(one)
    // A handler may remove what a power cut would bring back.
    if (claimed.length > 0) await app.store.flushed()
    for (const row of claimed) start(row)
    if (isMore) wake()
  }

  async function dispatch(app: A): Promise<boolean> {
    const { events, isMore } = await dispatchEvents(app, reactionsTo)
    const described = events.filter((event) => event.described)
    if (described.length > 0) await distribute?.(app, described)
    if (events.length > 0) await audience?.tell(app)
    return isMore
  }

  const everyOf = ({ row }: Locked) => known.get(row.name)?.every

  function start(row: Row<'jobs'>): void {
    const abort = new AbortController()
    const one: Locked = { row, lease: row.lease_until!, abort, work: Promise.resolve(), outcome: null, isLost: false }
    held.add(one)
    one.work = run(one)
  }

  /** Its lease ran out while this process stood still. */
  function lose(one: Locked): void {
    const { id, name, attempts } = one.row
    one.isLost = true
    log.warn({ job: name, id, attempt: attempts }, 'job was claimed by another worker')
    one.abort.abort(new Error('another worker has claimed the job'))
  }

  function wake(): void {
    if (stopping || paused || isNextTick) return
    isNextTick = true
    clearTimeout(timer)
    // What ends in the same moment is noted in the same turn.
    turn = turn
      .then(() => nextTurnOfTheLoop())
      .then(takeTurn)
      .catch(reportTrouble)
    void turn.then(() => {
      clearTimeout(timer)
      if (!stopping && !paused) timer = setTimeout(wake, IDLE_MS).unref()
    })
  }

  const reportTrouble = (error: unknown) => log.error({ err: error }, 'jobs could not be noted')

  const allDone = () => Promise.all([...held].map(({ work }) => work))

  async function rest(): Promise<void> {
    clearTimeout(timer)
    await turn
    if (stopping) for (const { abort } of held) abort.abort(new Error('the process is ending'))
    await allDone()
    await takeTurn().catch(reportTrouble)
  }
  wake()

  return {
    wake,
    async settle() {
      for (;;) {
        wake()
        await turn
        const isMore = (await isAnyDue(app)) || (await newEvents(app)).some(isWanted)
        if (held.size === 0 && !isMore) return
        if (stopping) throw new Error('work is due, but the worker has stopped')
        await allDone()
      }
    },
    async pause() {
      paused = true
      await rest()
      return () => {
        paused = false
        wake()
      }
    },
    async stop() {
      stopping = true
      await rest()
    },
  }
}
