/**
 * The store promises: one schema and one SQL layer over two engines; values in JavaScript are the wire's own (moments
 * and dates as ISO text, booleans as booleans, ids as numbers), whichever engine keeps them; what differs between the
 * engines lives in `sqlite.ts`, `postgres.ts` and `dialect.ts`, nowhere else.
 */
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'

/** Families add their tables here by declaration merging, each in its own `model.ts`. */
// oxlint-disable-next-line no-empty-interface
export interface Tables {}

/** Families add their events here the same way: name → payload (ids, not records). */
// oxlint-disable-next-line no-empty-interface
export interface Events {}

export type Db = Kysely<Tables>
export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
export type RowChange<T extends keyof Tables> = Updateable<Tables[T]>

/** What processes of one instance tell each other through the store (`announce`). */
export const CHANNELS = ['jobs_waiting', 'events_told'] as const
export type Channel = (typeof CHANNELS)[number]

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly db: Db
  /**
   * The same, but its transactions do not wait for the disk: a power cut may undo the last of them. For what is then
   * done once more without harm.
   */
  readonly relaxed: Db
  /** Resolves when a power cut would undo nothing that can be read now, but what is `relaxed`. */
  flushed(): Promise<void>
  /**
   * Calls `react` soon after another process (or this one) has announced something on the channel, until the answer is
   * called. An engine that can only tell that anything was written calls it with `certain` false.
   */
  listen(channel: Channel, react: (certain: boolean) => void): () => void
  /** Queries executed since the store was opened; tests of lists compare it before and after. */
  readonly queries: number
  /** Answers when the store can serve, throws when it cannot. */
  ping(): Promise<void>
  /** What the engine itself finds wrong with its data, a line each. Takes as long as reading all of it. */
  faults(): Promise<string[]>
  close(): Promise<void>
}

export interface StoreOptions {
  /** Whether an answered write must survive a power cut. */
  readonly durable: boolean
  /** Whether several processes of one instance work on it. */
  readonly shared: boolean
  readonly poolSize: number
}

/**
 * The engine cannot be reached, or went away. Of a commit that was under way nobody knows whether it was made; anything
 * else was not.
 */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store is unavailable', { cause })
    this.name = 'StoreUnavailable'
  }
}
