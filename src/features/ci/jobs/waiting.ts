/**
 * Runners of this process that wait for jobs. A waiting runner holds no limiter slot and no database connection. Jobs
 * that become pending in this process, in another process or on another node wake the runners.
 */
import type { App, TransactionApp } from '../../../context.ts'
import type { Store } from '../../../store/database.ts'
import { announce } from '../../../store/dialect.ts'

const CHANNEL = 'jobs_waiting'

interface WaitingRunners {
  readonly waiting: Set<() => void>
  stopListening: (() => void) | null
  /**
   * The id of the newest job in the queue. Some stores only report that something was written; comparing this id shows
   * whether a job was added.
   */
  newest: number
  closed: boolean
}

const byStore = new WeakMap<Store, WaitingRunners>()

function waitingRunnersOf({ store }: App): WaitingRunners {
  let runners = byStore.get(store)
  if (!runners) byStore.set(store, (runners = { waiting: new Set(), stopListening: null, newest: 0, closed: false }))
  return runners
}

/** Runs in the transaction that makes jobs pending, or that changes which jobs a runner may take. */
export async function announceWaitingJobs(app: TransactionApp): Promise<void> {
  app.onCommit(() => wake(waitingRunnersOf(app)))
  await announce(app.db, CHANNEL)
}

function wake({ waiting }: WaitingRunners): void {
  for (const react of waiting) react()
}

/** Changes whenever a job joins the queue. */
async function newestOf({ db }: Pick<App, 'db'>): Promise<number> {
  const { newest } = await db
    .selectFrom('ci_queue')
    .select((eb) => eb.fn.max<number | null>('id').as('newest'))
    .executeTakeFirstOrThrow()
  return newest ?? 0
}

async function listen(app: App, runners: WaitingRunners): Promise<void> {
  let isLooking = false
  runners.stopListening = app.store.listen(CHANNEL, (certain) => {
    if (certain) return wake(runners)
    if (isLooking) return
    isLooking = true
    newestOf(app)
      .then((newest) => {
        const isNew = newest !== runners.newest
        runners.newest = newest
        if (isNew) wake(runners)
      })
      .catch(() => {}) // the store is unavailable: waiting runners ask again
      .finally(() => (isLooking = false))
  })
}

export interface Vigil extends Disposable {
  /** Resolves to false after the timeout, when the runner disconnects, or when the process ends. */
  nextEvent(): Promise<boolean>
}

/** Counts events from the call on, so that none is missed while the caller reads the queue. */
export function awaitJobs(app: App, { ms, gone }: { ms: number; gone: AbortSignal }): Vigil {
  const room = waitingRunnersOf(app)
  let isNewEvent = false
  let isOver = room.closed
  let tell = () => {}
  const react = () => {
    isNewEvent = true
    if (room.closed) isOver = true
    tell()
  }
  const end = () => {
    isOver = true
    tell()
  }
  const timer = setTimeout(end, ms).unref()
  gone.addEventListener('abort', end)
  room.waiting.add(react)
  if (!room.stopListening && !room.closed) void listen(app, room)
  return {
    async nextEvent() {
      if (!isNewEvent && !isOver) await new Promise<void>((resolve) => (tell = resolve))
      isNewEvent = false
      return !isOver
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      gone.removeEventListener('abort', end)
      room.waiting.delete(react)
      if (room.waiting.size > 0) return
      room.stopListening?.()
      room.stopListening = null
    },
  }
}

/** The process is about to end: answers all waiting runners now. */
export function dismissWaiting(app: App): void {
  const room = waitingRunnersOf(app)
  room.closed = true
  wake(room)
}
