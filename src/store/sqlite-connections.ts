/**
 * The two connections to a SQLite file and their prepared statements. If another process has locked the file, the code
 * retries instead of waiting inside SQLite, which would block the event loop.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { QueryResult } from 'kysely'
import { StoreUnavailable } from './database.ts'
import type { Column, Direct, DirectTransaction } from './direct.ts'
import { assertWriteAllowed } from './read-only.ts'

const STATEMENTS_KEPT = 1000

/** How long a statement is retried while another process has locked the file; then it fails. */
const PATIENCE_MS = 10_000
const LONGEST_PAUSE_MS = 25

/** A reader waits only while another process recovers the log after a crash, or closes the file as the last one. */
const READ_TIMEOUT_MS = 50

/** Opening the file may block: nothing else runs yet. */
const OPEN_TIMEOUT_MS = 10_000

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)

const lockedBy = (cause: unknown) =>
  new StoreUnavailable(new Error('another process has locked the database', { cause }))

/** Runs `work` once the file is unlocked. `since` is the start of the wait, by the monotonic clock. */
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

export function openWriter(
  file: string,
  { durable, mustExist = false }: { durable: boolean; mustExist?: boolean },
): Database.Database {
  const writer = new Database(file, { timeout: OPEN_TIMEOUT_MS, fileMustExist: mustExist })
  writer.pragma('journal_mode = WAL')
  // With NORMAL, this code flushes the log and SQLite does the rest; tests do not wait for the disk.
  writer.pragma(`synchronous = ${durable ? 'NORMAL' : 'OFF'}`)
  writer.pragma('foreign_keys = ON')
  writer.pragma('busy_timeout = 0')
  return writer
}

export class Connections implements Direct {
  queries = 0
  transactions = 0
  transaction: DirectTransaction | null = null
  readonly writes: Statements
  readonly reads: Statements
  readonly #readOnly: boolean
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(writer: Database.Database, file: string, readOnly = false) {
    this.#readOnly = readOnly
    this.writes = new Statements(writer)
    this.reads = new Statements(new Database(file, { readonly: true, timeout: READ_TIMEOUT_MS }))
  }

  /** Synchronous; throws if the file is locked. */
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

  /** In read-only mode, refuses a statement that writes what it must not. */
  assertAllowed(sql: string): void {
    if (this.#readOnly && !this.isRead(sql)) assertWriteAllowed(sql)
  }

  readLater<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    return whenFree(performance.now(), () => this.reads.run<R>(sql, parameters))
  }

  close() {
    this.reads.database.close()
    this.writes.database.close()
  }

  /** Runs `work` with the writer when every earlier writer has finished, in this process or another. */
  async write<T>(work: () => T): Promise<T> {
    const { result, endTick } = await this.beginWrite(work)
    endTick()
    return result
  }

  /** The same, but the writer stays locked until `endTick` is called, once. */
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
  names: string[]
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

  columns(sql: string): Column[] {
    const { names, booleans } = this.#prepare(sql)
    return names.map((name) => (booleans.includes(name) ? { name, read: (json) => json === 1 } : { name }))
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
    const names = columns.map(({ name }) => name)
    const prepared = { statement, names, booleans: columns.filter((c) => c.type === 'boolean').map((c) => c.name) }
    if (this.#prepared.size >= STATEMENTS_KEPT) this.#prepared.clear()
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

const numberFromBoolean = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value)
