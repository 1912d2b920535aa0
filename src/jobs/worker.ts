/**
 * Claims due jobs and runs them, a few at a time; turns new events into jobs of their subscribers first. Several
 * processes may run a worker over the same store.
 */
import { after, timestamp, type Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { locksRows } from '../store/dialect.ts'
import type { Events, Row } from '../store/database.ts'
import { transact } from '../store/transact.ts'
import { enqueue, type Enqueuer, type Job } from './queue.ts'

export const MAX_ATTEMPTS = 12
/** Jobs a process runs side by side. */
export const CONCURRENCY = 4
const LONG_CONCURRENCY = 2
/** How long the work of a process that was killed waits for the next one. */
const LEASE_MS = 20_000
const LEASE_RENEWAL_MS = 5_000
const IDLE_MS = 1_000
const LONGEST_BACKOFF_MS = 3_600_000
const EVENTS_A_TURN = 100

/** A subscriber's reaction is a job of its own, so each retries alone. */
export interface Subscription<A> extends Job<A, never> {
  readonly event: keyof Events
}

interface WorkerApp extends Enqueuer {
  readonly log: Log
  readonly clock: Clock
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

export function startWorker<A extends WorkerApp>(
  app: A,
  { jobs, subscriptions }: { jobs: AnyJob<A>[]; subscriptions: Subscription<A>[] },
): Worker {
  const known = new Map<string, AnyJob<A>>([...jobs, ...subscriptions].map((job) => [job.name, job]))
  const log = app.log.child({ part: 'jobs' })
  const long = [...known.values()].filter((job) => job.long).map((job) => job.name)
  const ending = new AbortController()
  const running = new Set<Promise<void>>()
  let runningLong = 0
  let stopping = false
  let paused = false
  let turn: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function run(row: Row<'jobs'>): Promise<void> {
    const job = known.get(row.name)
    const renewal = setInterval(() => void renewLease(app, row).catch(() => {}), LEASE_RENEWAL_MS)
    try {
      if (!job) throw new Error(`no job is named ${row.name}`)
      await job.handle(app, JSON.parse(row.payload), ending.signal)
      await finish(app, row, job.every)
    } catch (error) {
      if (ending.signal.aborted) return void (await leave(app, row))
      log.warn({ err: error, job: row.name, id: row.id, attempt: row.attempts }, 'job failed')
      await giveBack(app, row, error)
    } finally {
      clearInterval(renewal)
    }
  }

  async function claimAll(): Promise<void> {
    await dispatchEvents(app, subscriptions)
    while (!stopping && running.size < CONCURRENCY) {
      const row = await claim(app, runningLong < LONG_CONCURRENCY ? [] : long)
      if (!row) return
      const isLong = long.includes(row.name)
      if (isLong) runningLong++
      const work = run(row).catch((error: unknown) => log.error({ err: error, job: row.name }, 'job lost its row'))
      running.add(work)
      void work.finally(() => {
        running.delete(work)
        if (isLong) runningLong--
        wake()
      })
    }
  }

  function wake(): void {
    if (stopping || paused) return
    clearTimeout(timer)
    turn = turn.then(claimAll).catch((error: unknown) => log.error({ err: error }, 'jobs could not be claimed'))
    void turn.then(() => {
      clearTimeout(timer)
      if (!stopping && !paused) timer = setTimeout(wake, IDLE_MS).unref()
    })
  }

  async function ensureRecurring(): Promise<void> {
    for (const job of jobs) {
      if (job.every) await enqueue(app, job, {}, { key: job.name, delay: job.every })
    }
  }
  turn = turn.then(ensureRecurring).catch((error: unknown) => log.error({ err: error }, 'recurring jobs not set'))
  wake()

  return {
    wake,
    async settle() {
      for (;;) {
        wake()
        await turn
        if (running.size === 0 && !(await anythingDue(app))) return
        if (stopping) throw new Error('work is due, but the worker has stopped')
        await Promise.all(running)
      }
    },
    async pause() {
      paused = true
      clearTimeout(timer)
      await turn
      await Promise.all(running)
      return () => {
        paused = false
        wake()
      }
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      await turn
      ending.abort(new Error('the process is ending'))
      await Promise.all(running)
    },
  }
}

const dueNow = (app: WorkerApp, except: readonly string[] = []) => {
  const now = timestamp(app.clock)
  return app.db
    .selectFrom('jobs')
    .$if(except.length > 0, (query) => query.where('name', 'not in', except))
    .where('state', '=', 'ready')
    .where('run_at', '<=', now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .orderBy('run_at')
    .orderBy('id')
    .select('id')
    .limit(1)
}

async function claim(app: WorkerApp, except: readonly string[]): Promise<Row<'jobs'> | undefined> {
  // The read costs nothing while idle; only a due job makes this a write.
  if (!(await dueNow(app, except).executeTakeFirst())) return undefined
  return app.db
    .updateTable('jobs')
    .set((eb) => ({ lease_until: after(app.clock, LEASE_MS), attempts: eb('attempts', '+', 1) }))
    .where(
      'id',
      '=',
      dueNow(app, except).$if(locksRows(app.db), (q) => q.forUpdate().skipLocked()),
    )
    .returningAll()
    .executeTakeFirst()
}

async function anythingDue(app: WorkerApp): Promise<boolean> {
  return (
    (await newEvents(app).limit(1).executeTakeFirst()) !== undefined ||
    (await dueNow(app).executeTakeFirst()) !== undefined
  )
}

async function renewLease(app: WorkerApp, row: Row<'jobs'>): Promise<void> {
  await app.db
    .updateTable('jobs')
    .set({ lease_until: after(app.clock, LEASE_MS) })
    .where('id', '=', row.id)
    .execute()
}

async function finish(app: WorkerApp, row: Row<'jobs'>, every: number | undefined): Promise<void> {
  if (every === undefined) {
    await app.db.deleteFrom('jobs').where('id', '=', row.id).execute()
    return
  }
  await app.db
    .updateTable('jobs')
    .set({ run_at: after(app.clock, every), lease_until: null, attempts: 0, last_error: null })
    .where('id', '=', row.id)
    .execute()
}

/** As if it had not been begun: the next process takes it at once. */
async function leave(app: WorkerApp, row: Row<'jobs'>): Promise<void> {
  await app.db
    .updateTable('jobs')
    .set({ lease_until: null, attempts: row.attempts - 1 })
    .where('id', '=', row.id)
    .execute()
}

async function giveBack(app: WorkerApp, row: Row<'jobs'>, error: unknown): Promise<void> {
  const backoff = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** row.attempts) * (0.75 + Math.random() / 2)
  await app.db
    .updateTable('jobs')
    .set({
      state: row.attempts >= MAX_ATTEMPTS ? 'dead' : 'ready',
      run_at: after(app.clock, backoff),
      lease_until: null,
      last_error: error instanceof Error ? error.message : String(error),
    })
    .where('id', '=', row.id)
    .execute()
}

const newEvents = (app: WorkerApp) =>
  app.db.selectFrom('events').where('dispatched_at', 'is', null).orderBy('id').select('id').limit(EVENTS_A_TURN)

async function dispatchEvents<A>(app: WorkerApp, subscriptions: Subscription<A>[]): Promise<void> {
  while (await newEvents(app).limit(1).executeTakeFirst()) {
    const claimed = await transact(app, async (app) => {
      const events = await app.db
        .updateTable('events')
        .set({ dispatched_at: timestamp(app.clock) })
        .where(
          'id',
          'in',
          newEvents(app).$if(locksRows(app.db), (q) => q.forUpdate().skipLocked()),
        )
        .returning(['name', 'payload'])
        .execute()
      for (const event of events) {
        for (const subscription of subscriptions.filter((s) => s.event === event.name)) {
          await enqueue(app, subscription, JSON.parse(event.payload) as never)
        }
      }
      return events.length
    })
    // Another process holds the rest.
    if (claimed === 0) return
  }
}
