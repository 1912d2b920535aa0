/**
 * The registry of processes that use the store, and leases that name them. A process registers when it opens the store,
 * and renews its row at short intervals. The row is deleted at the end of the process, or by another process that finds
 * it dead. A lease whose holder has no row is free.
 *
 * On one machine the operating system tells whether a process is alive. A process on another machine counts as dead when
 * its row stays unchanged for several checks. Checks are counted instead of time, because clocks of machines differ and
 * no process can renew its row while the database is down.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { timestamp } from '../clock.ts'
import { CannotStart } from '../config.ts'
import { PROCESS_TAG, isElsewhere, hasProcessEnded, noteLiving } from '../lib/async/process-tag.ts'
import { randomHex } from '../lib/crypto/secrets.ts'
import type { Log } from '../log.ts'
import type { Db, Store } from '../store/database.ts'
import { transact } from '../store/transact.ts'
import type { Enqueuer } from './queue.ts'

declare module '../store/database.ts' {
  interface Tables {
    processes: {
      tag: string
      /** Counts up while the process lives. */
      beats: number
    }
  }
}

const BEAT_MS = 1_500
/** So many checks without a change: a process counts as dead within 10 seconds, but not after a short pause. */
export const MISSED_BEATS = 5

/** Tags of this process; tests run several forges in one process. */
const living = new Set<string>()

/** A holder that is always dead. */
export const NOBODY = 'nobody'

export const newLeaseHolder = (): string => `${PROCESS_TAG}_${randomHex(4)}`

/** Whether the process that a column names is dead. Null names no process: then only the lease time counts. */
export const hasHolderEnded = (column: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} is not null
    and not exists (select 1 from processes where processes.tag = ${sql.ref(column)}))`

export async function findEnded(db: Db, holders: readonly (string | null)[]): Promise<Set<string>> {
  const named = [...new Set(holders.filter((holder) => holder !== null))]
  if (named.length === 0) return new Set()
  const there = await db.selectFrom('processes').select('tag').where('tag', 'in', named).execute()
  const tags = new Set(there.map(({ tag }) => tag))
  return new Set(named.filter((holder) => !tags.has(holder)))
}

/** Refuses while another process than `self` uses the store. */
export async function assertAlone(db: Db, self?: string): Promise<void> {
  if ((await findRunning(db, self)).length > 0)
    throw new CannotStart('the server, or another command, uses this instance: stop it first')
}

/**
 * The processes that use the store now, without `self`. Without a sign of life, a process of another machine is known to
 * be dead only after several seconds.
 */
export async function findRunning(
  db: Db,
  self = NOBODY,
  pause: () => Promise<unknown> = () => sleep(BEAT_MS),
): Promise<string[]> {
  const read = () => db.selectFrom('processes').selectAll().where('tag', '!=', self).execute()
  const first = (await read()).filter(({ tag }) => isElsewhere(tag) || !hasProcessEnded(tag))
  const here = first.filter(({ tag }) => !isElsewhere(tag)).map(({ tag }) => tag)
  if (here.length > 0 || first.length === 0) return here
  const before = new Map(first.map(({ tag, beats }) => [tag, beats]))
  for (let looks = 0; looks < MISSED_BEATS; looks++) {
    await pause()
    const alive = (await read()).filter(({ tag, beats }) =>
      isElsewhere(tag) ? before.get(tag) !== beats : !hasProcessEnded(tag),
    )
    if (alive.length > 0) return alive.map(({ tag }) => tag)
  }
  return []
}

/** The processes named in a copy of the store use the original. Their leases are free in the copy. */
export async function forgetOthers(db: Db, self: string): Promise<void> {
  await db.deleteFrom('processes').where('tag', '!=', self).execute()
}

interface Registered extends Enqueuer {
  readonly holder: string
  readonly store: Store
  readonly log: Log
}

/** The names of jobs that finish the work of a killed process. */
export type Recoveries = readonly string[]

/** Registers the process. Leases of dead processes are free when this resolves. */
export async function joinProcesses(
  app: Registered,
  recoveries: Recoveries,
  { beats = true, sweeps = true }: { beats?: boolean; sweeps?: boolean } = {},
): Promise<AsyncDisposable> {
  const watch = new ProcessWatch(relaxed(app), recoveries, sweeps)
  living.add(app.holder)
  await watch.look()
  let lastLook: Promise<void> = Promise.resolve()
  const tell = (err: unknown) => app.log.warn({ part: 'processes', err }, 'the process could not be renewed')
  const beat = () => void (lastLook = lastLook.then(() => watch.look()).catch(tell))
  const timer = beats ? setInterval(beat, BEAT_MS).unref() : undefined
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await lastLook
      living.delete(app.holder)
      await app.db.deleteFrom('processes').where('tag', '=', app.holder).execute().catch(tell)
    },
  }
}

const relaxed = <A extends Registered>(app: A): A => ({ ...app, db: app.store.relaxed })

export class ProcessWatch {
  readonly #app: Registered
  readonly #recoveries: Recoveries
  readonly #sweeps: boolean
  /** For processes on other machines: the last count, and the number of checks that found it unchanged. */
  #seen = new Map<string, { beats: number; missed: number }>()
  #looks = 0

  /** Without `sweeps`, rows of dead processes stay, for a process that can recover their work. */
  constructor(app: Registered, recoveries: Recoveries, sweeps = true) {
    this.#app = app
    this.#recoveries = recoveries
    this.#sweeps = sweeps
  }

  /** Renews the own row, and deletes the rows of dead processes. */
  async look(): Promise<void> {
    const { db, holder } = this.#app
    await db
      .insertInto('processes')
      .values({ tag: holder, beats: 1 })
      .onConflict((c) => c.column('tag').doUpdateSet((eb) => ({ beats: eb('processes.beats', '+', 1) })))
      .execute()
    const known = await db.selectFrom('processes').selectAll().execute()
    const gone = known.filter((row) => this.#isGone(row)).map(({ tag }) => tag)
    this.#forget(known.map(({ tag }) => tag))
    // Remember the living processes: file locks are checked without the store.
    if (++this.#looks > MISSED_BEATS) noteLiving(known.map(({ tag }) => tag))
    if (gone.length > 0 && this.#sweeps) await this.#remove(gone)
  }

  #isGone({ tag, beats }: { tag: string; beats: number }): boolean {
    if (!isElsewhere(tag)) return tag.startsWith(PROCESS_TAG) ? !living.has(tag) : hasProcessEnded(tag)
    const before = this.#seen.get(tag)
    const missed = before?.beats === beats ? before.missed + 1 : 0
    this.#seen.set(tag, { beats, missed })
    return missed >= MISSED_BEATS
  }

  #forget(known: readonly string[]): void {
    const names = new Set(known)
    for (const tag of this.#seen.keys()) if (!names.has(tag)) this.#seen.delete(tag)
  }

  /** Starts the recovery jobs at once. */
  async #remove(gone: readonly string[]): Promise<void> {
    const isOurs = await transact(this.#app, async ({ db, clock }) => {
      const { numDeletedRows } = await db.deleteFrom('processes').where('tag', 'in', gone).executeTakeFirst()
      if (numDeletedRows === 0n) return false
      const now = timestamp(clock)
      if (this.#recoveries.length > 0)
        await db
          .updateTable('jobs')
          .set({ run_at: now })
          .where('name', 'in', this.#recoveries)
          .where('state', '=', 'ready')
          .where('run_at', '>', now)
          .execute()
      return true
    })
    if (isOurs) this.#app.log.debug({ part: 'processes', gone }, 'processes are gone; their leases are free')
  }
}
