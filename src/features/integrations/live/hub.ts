/**
 * All live connections of a process, and the single reader of the event log that serves them. The reader runs only
 * while connections are open. It wakes after commits of this process and after notifications of others.
 */
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { anonymousShare, type LimitedCaller } from '../../../lib/async/limiter.ts'
import type { Store } from '../../../store/database.ts'
import { announce } from '../../../store/dialect.ts'
import { deliver, type Listener } from './deliver.ts'
import { mayEnd } from './catalogue.ts'
import { PAGE, eventsAfter, lastPosition, oldestPosition, type LoggedEvent } from './log.ts'
import { eventBlock, idleBlock, type EventStream } from './stream.ts'

const CHANNEL = 'events_told'
const BEAT_MS = 15_000
const RECHECK_MS = 30_000
const MOST_OF_CALLER = 20
const MOST_IN_ALL = 2000
/** A client further behind starts over. */
const MOST_BEHIND = 10_000
const RETRY_MS = 3000

export interface Connection extends Listener {
  readonly stream: EventStream
  /** The caller whose limit the connection counts towards. */
  readonly caller: LimitedCaller
  /** Whether the token and the scope are still valid for this connection. */
  isAllowed(): Promise<boolean>
}

class Hub {
  readonly #app: App
  readonly #listening = new Set<Connection>()
  readonly #open = new Map<LimitedCaller['key'], number>()
  #total = 0
  #anonymous = 0
  /** All events up to this position have been sent. */
  #cursor = 0
  #last: Promise<unknown> = Promise.resolve()
  #isNextTick = false
  #deafen: (() => void) | null = null
  #timers: NodeJS.Timeout[] = []
  /** Connections whose rights must be checked again. */
  readonly #doubtful = new Set<Connection>()
  #isChecking = false
  #isOver = false

  constructor(app: App) {
    this.#app = app
  }

  get isWatched(): boolean {
    return this.#listening.size > 0
  }

  /** Counts the connection until its stream closes, or refuses it. */
  admit({ caller: { key, isAnonymous }, stream }: Connection): void {
    const own = this.#open.get(key) ?? 0
    const headers = { 'Retry-After': String(RETRY_MS / 1000) }
    if (own >= MOST_OF_CALLER) throw new Refusal('throttled', undefined, { headers })
    const isFull = this.#total >= MOST_IN_ALL || (isAnonymous && this.#anonymous >= anonymousShare(MOST_IN_ALL))
    if (isFull || this.#isOver) throw new Refusal('busy', undefined, { headers })
    this.#open.set(key, own + 1)
    this.#total++
    if (isAnonymous) this.#anonymous++
    stream.once('close', () => {
      this.#total--
      if (isAnonymous) this.#anonymous--
      const left = this.#open.get(key)! - 1
      if (left === 0) this.#open.delete(key)
      else this.#open.set(key, left)
    })
  }

  /**
   * Sends the past events since a position, as far as the log has them. If the connection stays, later events follow.
   */
  async join(connection: Connection, since: number | 'now' | 'unknown', { stays }: { stays: boolean }): Promise<void> {
    const { stream } = connection
    let at = await this.#startOf(connection, since)
    // Read old events in parallel with other connections, but the last page inside the mutex: no event is missed or
    // sent twice.
    while (this.#isReading() && this.#cursor - at > PAGE && !stream.destroyed)
      at = await this.#catchUp(connection, at, this.#cursor)
    await this.#serialized(async () => {
      if (stream.destroyed) return
      // Another process may have sent this client events that this process has not read yet.
      await this.#read()
      const end = await this.#position()
      while (at < end && !stream.destroyed) at = await this.#catchUp(connection, at, end)
      if (stays && !this.#isOver) this.#add(connection)
      else stream.finish()
    })
  }

  wake(): void {
    if (this.#listening.size === 0 || this.#isNextTick) return
    this.#isNextTick = true
    void this.#serialized(async () => {
      this.#isNextTick = false
      await this.#read()
    }).catch((error: unknown) => this.#app.log.error({ err: error, part: 'live' }, 'events could not be told'))
  }

  /** Called before the process or its store closes. */
  end(): void {
    this.#isOver = true
    for (const { stream } of this.#listening) stream.finish()
    this.#rest()
  }

  #serialized<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** While no connection is open, the cursor does not move. */
  #isReading(): boolean {
    return this.#listening.size > 0
  }

  async #position(): Promise<number> {
    if (!this.#isReading()) this.#cursor = await lastPosition(this.#app.db)
    return this.#cursor
  }

  async #startOf({ stream }: Connection, since: number | 'now' | 'unknown'): Promise<number> {
    const { db } = this.#app
    const last = this.#isReading() ? this.#cursor : await lastPosition(db)
    stream.tell(`retry: ${RETRY_MS}\n\n`)
    if (since === 'now') {
      stream.tell(eventBlock('ready', last, {}))
      return last
    }
    if (typeof since === 'number' && since <= (await lastPosition(db)) && last - since <= MOST_BEHIND) {
      const oldest = await oldestPosition(db)
      const isKept = since >= last || (oldest !== null && since + 1 >= oldest)
      if (isKept) return since
    }
    stream.tell(eventBlock('reset', last, {}))
    return last
  }

  /** Sends one page of missed events and returns the new position. */
  async #catchUp(connection: Connection, after: number, until: number): Promise<number> {
    const { scope } = connection
    const project = 'project' in scope ? scope.project : undefined
    const events = await eventsAfter(this.#app.db, { after, until, project })
    if (events.length > 0) {
      const { blocks, ended } = await deliver(this.#app, events, [connection])
      connection.stream.tell(blocks.get(connection) ?? '')
      if (ended.has(connection)) connection.stream.destroy()
    }
    return events.length < PAGE ? until : events.at(-1)!.position
  }

  #add(connection: Connection): void {
    const { stream } = connection
    if (stream.destroyed) return // closed while waiting for the mutex
    if (this.#listening.size === 0) this.#begin()
    this.#listening.add(connection)
    stream.once('close', () => {
      this.#listening.delete(connection)
      if (this.#listening.size === 0) this.#rest()
    })
    this.wake()
  }

  #begin(): void {
    this.#deafen = this.#app.store.listen(CHANNEL, () => this.wake())
    const beat = setInterval(() => {
      for (const { stream } of this.#listening) stream.tell(idleBlock(this.#cursor))
    }, BEAT_MS)
    const recheck = setInterval(() => void this.#recheck([...this.#listening]), RECHECK_MS)
    this.#timers = [beat.unref(), recheck.unref()]
  }

  #rest(): void {
    this.#deafen?.()
    this.#deafen = null
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  async #read(): Promise<void> {
    for (;;) {
      if (this.#listening.size === 0) return
      const listening = [...this.#listening]
      const events = await eventsAfter(this.#app.db, { after: this.#cursor })
      if (events.length === 0) return
      const { blocks, ended } = await deliver(this.#app, events, listening)
      // No await from here on: all connections get the page, or none.
      this.#cursor = events.at(-1)!.position
      for (const [text, some] of Map.groupBy(blocks.keys(), (listener) => blocks.get(listener)!)) {
        const bytes = Buffer.from(text)
        for (const { stream } of some) stream.tell(bytes)
      }
      for (const { stream } of ended) stream.finish()
      void this.#recheck(concerned(events, listening))
      if (events.length < PAGE) return
    }
  }

  /** One connection at a time, and each only once, however many events ask for the check. */
  async #recheck(connections: readonly Connection[]): Promise<void> {
    for (const connection of connections) this.#doubtful.add(connection)
    if (this.#isChecking) return
    this.#isChecking = true
    for (const connection of this.#doubtful) {
      this.#doubtful.delete(connection)
      if (connection.stream.destroyed) continue
      // If the database is unavailable, the connection stays until the next check.
      const isAllowed = await connection.isAllowed().catch(() => true)
      if (!isAllowed) connection.stream.finish()
    }
    this.#isChecking = false
  }
}

function concerned(events: readonly LoggedEvent[], listening: readonly Connection[]): Connection[] {
  const grave = events.filter(({ name }) => mayEnd(name))
  if (grave.length === 0) return []
  const users = new Set(grave.map(({ payload }) => (JSON.parse(payload) as { user_id?: number }).user_id))
  const isOfGroup = grave.some(({ name }) => name.startsWith('group.'))
  return listening.filter(
    ({ viewer, scope }) => (viewer !== null && users.has(viewer)) || (isOfGroup && 'group' in scope),
  )
}

const hubs = new WeakMap<Store, Hub>()

export function hubOf(app: App): Hub {
  let hub = hubs.get(app.store)
  if (!hub) hubs.set(app.store, (hub = new Hub(app)))
  return hub
}

/** Call in the transaction that assigns the events their positions. */
export async function notifyListeners(app: App): Promise<void> {
  app.onCommit(() => hubs.get(app.store)?.wake())
  await announce(app.db, CHANNEL)
}

export const hasListeners = ({ store }: Pick<App, 'store'>): boolean => hubs.get(store)?.isWatched ?? false

export const endLive = ({ store }: Pick<App, 'store'>): void => hubs.get(store)?.end()
