/**
 * The two connections to a SQLite file and their prepared statements. Another process may hold the file: nobody waits
 * for it inside SQLite, which would stop the event loop with them, but by trying again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { QueryResult } from 'kysely'
import { StoreUnavailable } from './database.ts'
import type { Direct } from './direct.ts'

const STATEMENTS_KEPT = 1000

/** For as long as another process holds the file a statement is tried again; then it is refused. */
const PATIENCE_MS = 10_000
const LONGEST_PAUSE_MS = 25

/** A reader waits only while another process makes the log whole after a crash, or closes the file as its last. */
const READ_TIMEOUT_MS = 50

/** One that opens the file has nobody else to keep waiting. */
const OPEN_TIMEOUT_MS = 10_000

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)

const lockedBy = (cause: unknown) =>
  new StoreUnavailable(new Error('another process has locked the database', { cause }))

/** Runs `work` once the file is free. `since` is when it was first wanted, by the monotonic clock. */
async function whenFree<T>(since: number, work: () => T): Promise<T> {
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() - since > PATIENCE_MS) throw lockedBy(error)
    }
    await sleep(pause)
  }
}

export function openWriter(file: string, durable: boolean): Database.Database {
  const writer = new Database(file, { timeout: OPEN_TIMEOUT_MS })
  writer.pragma('journal_mode = WAL')
  // NORMAL leaves the log's flush to us and keeps all else in order; tests do without the disk's patience.
  writer.pragma(`synchronous = ${durable ? 'NORMAL' : 'OFF'}`)
  writer.pragma('foreign_keys = ON')
  writer.pragma('busy_timeout = 0')
  return writer
}

export class Connections implements Direct {
  queries = 0
  readonly writes: Statements
  readonly reads: Statements
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(writer: Database.Database, file: string) {
    this.writes = new Statements(writer)
    this.reads = new Statements(new Database(file, { readonly: true, timeout: READ_TIMEOUT_MS }))
  }

  /** At once, or not at all. */
  read<R>(sql: string, parameters: readonly unknown[]): R[] {
    this.queries++
    try {
      return this.reads.run<R>(sql, parameters).rows
    } catch (error) {
      throw isBusy(error) ? lockedBy(error) : error
    }
  }

  isRead(sql: string): boolean {
    try {
      return this.reads.isReadOnly(sql)
    } catch (error) {
      throw isBusy(error) ? lockedBy(error) : error
    }
  }

  readLater<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    return whenFree(performance.now(), () => this.reads.run<R>(sql, parameters))
  }

  close() {
    this.reads.database.close()
    this.writes.database.close()
  }

  /** Runs `work` with the writer when every earlier writer is done, in this process or another. */
  async write<T>(work: () => T): Promise<T> {
    const { result, endTick } = await this.beginWrite(work)
    endTick()
    return result
  }

  /** The same, but the writer is kept until `endTurn` is called, once. */
  async beginWrite<T>(work: () => T): Promise<{ result: T; endTick: () => void }> {
    const since = performance.now()
    const before = this.#lastWrite
    const { promise, resolve: endTick } = Promise.withResolvers<void>()
    this.#lastWrite = promise
    await before
    try {
      return { result: await whenFree(since, work), endTick }
    } catch (error) {
      endTick()
      throw error
    }
  }
}

interface Prepared {
  statement: Database.Statement
  booleans: string[]
}

/** One connection and its prepared statements. */
export class Statements {
  readonly database: Database.Database
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: Database.Database) {
    this.database = database
  }

  isReadOnly(sql: string): boolean {
    return this.#prepare(sql).statement.readonly
  }

  run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { statement, booleans } = this.#prepare(sql)
    const bound = parameters.some((value) => typeof value === 'boolean')
      ? parameters.map(numberFromBoolean)
      : parameters
    if (!statement.reader) {
      const { changes, lastInsertRowid } = statement.run(...bound)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    }
    const rows = statement.all(...bound) as Record<string, unknown>[]
    for (const column of booleans) for (const row of rows) row[column] = row[column] === null ? null : row[column] === 1
    return { rows: rows as R[], numAffectedRows: BigInt(rows.length) }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.database.prepare(sql)
    const columns = statement.reader ? statement.columns() : []
    const prepared = { statement, booleans: columns.filter((c) => c.type === 'boolean').map((c) => c.name) }
    if (this.#prepared.size >= STATEMENTS_KEPT) this.#prepared.clear()
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

const numberFromBoolean = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value)
