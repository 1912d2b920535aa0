/**
 * SQLite behind Kysely. One connection writes, one only reads: in WAL mode a reader sees the last committed state, so
 * reads never wait for an open write transaction. Write transactions start IMMEDIATE and queue here, in order, instead
 * of meeting as busy errors. A commit is flushed beside the event loop, with all that were made meanwhile, and is not
 * answered before. Statements are prepared once per SQL text.
 */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type LimitNode,
  type QueryResult,
} from 'kysely'
import { coalesce } from '../lib/coalesce.ts'
import type { Store, Tables } from './database.ts'
import { openDirect, type Direct } from './direct.ts'

const STATEMENTS_KEPT = 1000
const BUSY_TIMEOUT_MS = 10_000

export function openSqlite(file: string, { durable, shared }: { durable: boolean; shared: boolean }): Store {
  const writer = new Database(file)
  writer.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  writer.pragma('journal_mode = WAL')
  // NORMAL leaves the log's flush to us and keeps all else in order; tests do without the disk's patience.
  writer.pragma(`synchronous = ${durable ? 'NORMAL' : 'OFF'}`)
  writer.pragma('foreign_keys = ON')

  const connections = new Connections(writer, file)
  // The log is there from the first read on.
  writer.prepare('select count(*) from sqlite_master').get()
  const flusher = durable ? new Flusher(file) : null
  const adapter = new TransactionalSqliteAdapter()
  openDirect(adapter, connections)
  const over = (driver: Driver) =>
    new Kysely<Tables>({
      dialect: {
        createAdapter: () => adapter,
        createDriver: () => driver,
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new CalmSqliteCompiler(),
      },
    })
  const db = over(new SqliteDriver(connections, flusher))
  const watch = new Watch(connections.reads.database)
  return {
    engine: 'sqlite',
    db,
    relaxed: over(new SqliteDriver(connections, null)),
    // Of what another process has committed nobody here knows whether it is flushed.
    flushed: async () => (shared ? flusher?.flush() : flusher?.flushed()),
    listen: (_channel, react) => watch.add(() => react(false)),
    get queries() {
      return connections.queries
    },
    async ping() {
      writer.prepare('select 1').get()
      await flusher?.flushed()
    },
    async faults() {
      const checked = writer.pragma('integrity_check') as { integrity_check: string }[]
      const orphans = writer.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[]
      return [
        ...checked.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
        ...orphans.map(
          ({ table, rowid, parent }) => `row ${rowid} of ${table} hangs on a row of ${parent} that is gone`,
        ),
      ]
    },
    async close() {
      watch.end()
      await db.destroy()
      await flusher?.close()
      connections.close()
    },
  }
}

const LOOK_EVERY_MS = 40

/** Whether anybody has written: the engine counts it, and while somebody wants to know it is asked often. */
class Watch {
  readonly #reader: Database.Database
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #seen: unknown

  constructor(reader: Database.Database) {
    this.#reader = reader
  }

  add(react: () => void): () => void {
    this.#listeners.add(react)
    if (this.#listeners.size === 1) {
      this.#seen = this.#version()
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
    }
    return () => {
      this.#listeners.delete(react)
      if (this.#listeners.size === 0) clearInterval(this.#timer)
    }
  }

  end(): void {
    this.#listeners.clear()
    clearInterval(this.#timer)
  }

  #version = () => this.#reader.pragma('data_version', { simple: true })

  #look(): void {
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const react of this.#listeners) react()
  }
}

/** SQLite does keep DDL in a transaction; Kysely's own adapter is only cautious about it. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** SQLite plans `limit ?` anew for each value; an expression it plans once. */
class CalmSqliteCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit +')
    this.visitNode(node.limit)
  }
}

/** Flushes the log. After a failure nobody can tell what is on disk: nothing is acknowledged any more. */
class Flusher {
  readonly #log: number
  readonly #flushes = coalesce(() => flushData(this.#log))

  constructor(file: string) {
    this.#log = openSync(`${file}-wal`, 'r+')
    if (process.platform === 'win32') return
    // SQLite would flush the log's name with the log's first flush, which is now ours.
    const folder = openSync(dirname(file), 'r')
    fsyncSync(folder)
    closeSync(folder)
  }

  /** Resolves when all that is committed by now is on disk. */
  flush(): Promise<void> {
    return this.#flushes.run()
  }

  /** The same for what somebody waits for already. */
  flushed(): Promise<void> {
    return this.#flushes.settled()
  }

  async close(): Promise<void> {
    await this.flushed().catch(() => {})
    closeSync(this.#log)
  }
}

const flushData = promisify(fdatasync)

class SqliteDriver implements Driver {
  readonly #connections: Connections
  readonly #flusher: Flusher | null

  constructor(connections: Connections, flusher: Flusher | null) {
    this.#connections = connections
    this.#flusher = flusher
  }

  async init() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new SqliteConnection(this.#connections, this.#flusher)
  }

  async beginTransaction(connection: DatabaseConnection) {
    await (connection as SqliteConnection).begin()
  }

  async commitTransaction(connection: DatabaseConnection) {
    ;(connection as SqliteConnection).commit()
    await this.#flusher?.flush()
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    ;(connection as SqliteConnection).rollback()
  }

  async releaseConnection() {}

  async destroy() {}
}

class Connections implements Direct {
  queries = 0
  readonly writes: Statements
  readonly reads: Statements
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(writer: Database.Database, file: string) {
    this.writes = new Statements(writer)
    const reader = new Database(file, { readonly: true })
    reader.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    this.reads = new Statements(reader)
  }

  read<R>(sql: string, parameters: readonly unknown[]): R[] {
    this.queries++
    return this.reads.run<R>(sql, parameters).rows
  }

  close() {
    this.reads.database.close()
    this.writes.database.close()
  }

  /** Resolves when every earlier writer is done; the caller must call what it is given, once, when it is done too. */
  async writeTurn(): Promise<() => void> {
    const before = this.#lastWrite
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#lastWrite = promise
    await before
    return resolve
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #connections: Connections
  readonly #flusher: Flusher | null
  #endTurn: (() => void) | null = null

  constructor(connections: Connections, flusher: Flusher | null) {
    this.#connections = connections
    this.#flusher = flusher
  }

  async begin() {
    const endTurn = await this.#connections.writeTurn()
    try {
      this.#connections.writes.run('begin immediate', [])
    } catch (error) {
      endTurn()
      throw error
    }
    this.#endTurn = endTurn
  }

  /** Whoever fails at it rolls back next, and only then is it another writer's turn. */
  commit() {
    this.#connections.writes.run('commit', [])
    this.#leave()
  }

  rollback() {
    // Committed: only the flush has failed, and the writer is somebody else's by now.
    if (!this.#endTurn) return
    const { writes } = this.#connections
    try {
      // A failed statement may have rolled the transaction back already; a second rollback would throw over the cause.
      if (writes.database.inTransaction) writes.run('rollback', [])
    } finally {
      this.#leave()
    }
  }

  #leave() {
    this.#endTurn?.()
    this.#endTurn = null
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { reads, writes } = this.#connections
    this.#connections.queries++
    if (this.#endTurn) return writes.run<R>(sql, parameters)
    if (reads.isReadOnly(sql)) return reads.run<R>(sql, parameters)

    const result = await this.#write<R>(sql, parameters)
    await this.#flusher?.flush()
    return result
  }

  async #write<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    const endTurn = await this.#connections.writeTurn()
    try {
      return this.#connections.writes.run<R>(sql, parameters)
    } finally {
      endTurn()
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('stream by keyset pages instead: an open cursor would hold the connection')
  }
}

interface Prepared {
  statement: Database.Statement
  booleans: string[]
}

/** One connection and its prepared statements. */
class Statements {
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
