/**
 * The store: one schema and one SQL layer over two databases, SQLite and PostgreSQL. Values in JavaScript have the form
 * of the API (timestamps and dates as ISO text, booleans as booleans, ids as numbers) with either database. Differences
 * between the two are only in `sqlite.ts`, `postgres.ts` and `dialect.ts`.
 */
import type { Insertable, Kysely, Selectable, Transaction, Updateable } from 'kysely'

/** Families add their tables here by declaration merging, each in its own `model.ts`. */
// oxlint-disable-next-line no-empty-interface
export interface Tables {}

/** Families add their events here in the same way: name → payload (ids, not records). */
// oxlint-disable-next-line no-empty-interface
export interface Events {}

export type Db = Kysely<Tables>
export type TransactionDb = Transaction<Tables>
export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
export type RowChange<T extends keyof Tables> = Updateable<Tables[T]>

/** Notifications between the processes of one instance, sent through the store (`announce`). */
export const CHANNELS = ['jobs_waiting', 'events_told'] as const
export type Channel = (typeof CHANNELS)[number]

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly db: Db
  /**
   * The same database, but its transactions do not wait for the disk: a power failure may lose the last ones. Use it
   * only for work that can be repeated without harm.
   */
  readonly relaxed: Db
  /**
   * The same database, but where a commit can be seen before it is on disk, its transactions resolve then. The caller
   * must wait for `flushed` before it confirms anything.
   */
  readonly early: Db
  /** Resolves when a power failure could lose nothing that can be read now, except `relaxed` transactions. */
  flushed(): Promise<void>
  /**
   * Calls `react` soon after this or another process has announced something on the channel. Call the returned function
   * to stop. SQLite can only tell that something was written, and then `certain` is false.
   */
  listen(channel: Channel, react: (certain: boolean) => void): () => void
  /** Number of queries since the store was opened; tests of lists compare it before and after. */
  readonly queries: number
  /** Number of write transactions since the store was opened. */
  readonly transactions: number
  /** Resolves if the store can serve, throws if it cannot. */
  ping(): Promise<void>
  /** Errors that the database itself finds in its data, one per line. Takes as long as reading all data. */
  faults(): Promise<string[]>
  close(): Promise<void>
}

export interface StoreOptions {
  /** Whether a confirmed write must survive a power failure. */
  readonly durable: boolean
  /** Whether several processes of one instance use it. */
  readonly shared: boolean
  readonly poolSize: number
  /** Refuses all writes but a few (`read-only.ts`), and creates no database. */
  readonly readOnly?: boolean
}

/**
 * The database cannot be reached, or the connection was lost. Whether a commit in progress was applied is unknown;
 * other work was not.
 */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store is unavailable', { cause })
    this.name = 'StoreUnavailable'
  }
}
