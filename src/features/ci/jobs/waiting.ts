/**
 * Runners that wait for jobs, in this process: they hold neither a turn nor a connection. They are told of jobs that
 * become pending here, by another process over the same store, or on another node.
 */
import type { App } from '../../../context.ts'
import type { Store } from '../../../store/database.ts'
import { announce } from '../../../store/dialect.ts'

const CHANNEL = 'jobs_waiting'

interface Capacity {
  readonly waiting: Set<() => void>
  deafen: (() => void) | null
  /** What joined the queue last: where the store tells only that something was written, it is compared. */
  newest: number
  closed: boolean
}

const rooms = new WeakMap<Store, Capacity>()

function capacityOf({ store }: App): Capacity {
  let room = rooms.get(store)
  if (!room) rooms.set(store, (room = { waiting: new Set(), deafen: null, newest: 0, closed: false }))
  return room
}

/** In the transaction that made them pending, or that changed what a runner may take. */
export async function announceWaitingJobs(app: App): Promise<void> {
  app.onCommit(() => wake(capacityOf(app)))
  await announce(app.db, CHANNEL)
}

function wake({ waiting }: Capacity): void {
  for (const react of waiting) react()
}

/** Another one whenever a job has joined the queue. */
async function newestOf({ db }: Pick<App, 'db'>): Promise<number> {
  const { newest } = await db
    .selectFrom('ci_queue')
    .select((eb) => eb.fn.max<number | null>('id').as('newest'))
    .executeTakeFirstOrThrow()
  return newest ?? 0
}

async function listen(app: App, room: Capacity): Promise<void> {
  let isLooking = false
  room.deafen = app.store.listen(CHANNEL, (certain) => {
    if (certain) return wake(room)
    if (isLooking) return
    isLooking = true
    newestOf(app)
      .then((newest) => {
        const isNew = newest !== room.newest
        room.newest = newest
        if (isNew) wake(room)
      })
      .catch(() => {}) // the store is away: whoever waits comes again
      .finally(() => (isLooking = false))
  })
}

export interface Vigil extends Disposable {
  /** Resolves to false once the time is over, whoever waits has gone, or the process ends. */
  news(): Promise<boolean>
}

/** News are counted from this moment on, so that none is missed while the queue is looked through. */
export function awaitJobs(app: App, { ms, gone }: { ms: number; gone: AbortSignal }): Vigil {
  const room = capacityOf(app)
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
  if (!room.deafen && !room.closed) void listen(app, room)
  return {
    async news() {
      if (!isNewEvent && !isOver) await new Promise<void>((resolve) => (tell = resolve))
      isNewEvent = false
      return !isOver
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      gone.removeEventListener('abort', end)
      room.waiting.delete(react)
      if (room.waiting.size > 0) return
      room.deafen?.()
      room.deafen = null
    },
  }
}

/** The process is about to end: whoever waits is answered now. */
export function dismissWaiting(app: App): void {
  const room = capacityOf(app)
  room.closed = true
  wake(room)
}
