/**
 * The processes that work on the store, and leases that name them. A process registers when it opens the store and
 * renews its row every moment. A row goes with its process: at the end of the process, or as soon as another process
 * finds it gone. A lease whose holder has no row is free.
 *
 * On one machine the system tells whether a process lives. A process of another machine is gone when its row has stayed
 * the same for several looks. Looks are counted, not time: clocks of machines differ, and nobody renews anything while
 * the database is away.
 */
import { sql, type RawBuilder } from 'kysely'
import { timestamp } from '../clock.ts'
import { PROCESS_TAG, isElsewhere, hasProcessEnded, noteLiving } from '../lib/process-tag.ts'
import { randomHex } from '../lib/secrets.ts'
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
/** So many looks without a beat: gone within 10 seconds, and not by a pause of a moment. */
export const MISSED_BEATS = 5

/** Of this process; tests run several forges in one. */
const living = new Set<string>()

/** A holder that is gone by its name. */
export const NOBODY = 'nobody'

export const newLeaseHolder = (): string => `${PROCESS_TAG}_${randomHex(4)}`

/** Whether the process that a column names is gone. Null names nobody: then only time tells. */
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

interface Registered extends Enqueuer {
  readonly holder: string
  readonly store: Store
  readonly log: Log
}

/** The names of jobs that finish what a killed process left. */
export type Recoveries = readonly string[]

/** Registers the process; leases of those found gone are free when this resolves. */
export async function joinProcesses(
  app: Registered,
  recoveries: Recoveries,
  { beats = true }: { beats?: boolean } = {},
): Promise<AsyncDisposable> {
  const watch = new ProcessWatch(relaxed(app), recoveries)
  living.add(app.holder)
  await watch.look()
  let turn: Promise<void> = Promise.resolve()
  const tell = (err: unknown) => app.log.warn({ part: 'processes', err }, 'the process could not be renewed')
  const beat = () => void (turn = turn.then(() => watch.look()).catch(tell))
  const timer = beats ? setInterval(beat, BEAT_MS).unref() : undefined
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await turn
      living.delete(app.holder)
      await app.db.deleteFrom('processes').where('tag', '=', app.holder).execute().catch(tell)
    },
  }
}

const relaxed = <A extends Registered>(app: A): A => ({ ...app, db: app.store.relaxed })

export class ProcessWatch {
  readonly #app: Registered
  readonly #recoveries: Recoveries
  /** Of processes elsewhere: their last beat, and the looks that found the same. */
  #seen = new Map<string, { beats: number; missed: number }>()
  #looks = 0

  constructor(app: Registered, recoveries: Recoveries) {
    this.#app = app
    this.#recoveries = recoveries
  }

  /** Renews the own row, and removes those of processes that are gone. */
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
    // Locks of files are asked about without the store.
    if (++this.#looks > MISSED_BEATS) noteLiving(known.map(({ tag }) => tag))
    if (gone.length > 0) await this.#remove(gone)
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

  /** What they left is looked after at once. */
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
