/**
 * SQLite behind Kysely. One connection writes, the other only reads: in WAL mode a reader sees the last committed
 * state, so reads never wait for an open write transaction, of this process or another. Write transactions start
 * IMMEDIATE and queue here in order, instead of failing with busy errors; while another process writes, the first in
 * the queue retries. A commit is flushed off the event loop, together with all commits made in the meantime, and is
 * confirmed only after that. Statements are prepared once per SQL text.
 */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type Database from 'better-sqlite3'
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
import { coalesce } from './coalesce.ts'
import type { Store, Tables } from './database.ts'
import { openDescribe, openDirect, type DirectTransaction } from './direct.ts'
import { isDamaged } from './engine-errors.ts'
import { Connections, openWriter } from './sqlite-connections.ts'

interface Options {
  durable: boolean
  shared: boolean
  readOnly?: boolean
}

export function openSqlite(file: string, { durable, shared, readOnly = false }: Options): Store {
  const writer = openWriter(file, { durable, mustExist: readOnly })
  const connections = new Connections(writer, file, readOnly)
  // Creates the log, which exists from the first read on.
  writer.prepare('select count(*) from sqlite_master').get()
  const flusher = durable ? new Flusher(file) : null
  const adapter = new TransactionalSqliteAdapter()
  openDirect(adapter, connections)
  openDescribe(adapter, (sql) => connections.reads.columns(sql))
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
    early: over(new SqliteDriver(connections, flusher && { flush: async () => flusher.begin() })),
    // This process does not know whether a commit of another process is flushed.
    flushed: async () => (shared ? flusher?.flush() : flusher?.flushed()),
    listen: (_channel, react) => watch.add(() => react(false)),
    get queries() {
      return connections.queries
    },
    get transactions() {
      return connections.transactions
    },
    async ping() {
      writer.prepare('select 1').get()
      await flusher?.flushed()
    },
    async faults() {
      try {
        return faultsIn(writer)
      } catch (error) {
        if (!isDamaged(error)) throw error
        return [(error as Error).message]
      }
    },
    async close() {
      watch.end()
      await db.destroy()
      await flusher?.close()
      connections.close()
    },
  }
}

function faultsIn(writer: Database.Database): string[] {
  const checked = writer.pragma('integrity_check') as { integrity_check: string }[]
  const damages = checked.flatMap((row) => row.integrity_check.split('\n')).filter((line) => line !== 'ok')
  // Unreadable data allows no further checks.
  if (damages.length > 0) return damages
  const orphans = writer.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[]
  return orphans.map(({ table, rowid, parent }) => `row ${rowid} of ${table} hangs on a row of ${parent} that is gone`)
}

const LOOK_EVERY_MS = 40

/** Detects writes of any process: SQLite counts them, and the count is polled while there are listeners. */
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

/** SQLite supports DDL in transactions; Kysely's own adapter says it does not. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** SQLite plans `limit ?` again for each value, but plans an expression once. */
class CalmSqliteCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit +')
    this.visitNode(node.limit)
  }
}

/** Flushes the log. After a failure the state of the disk is unknown: from then on no commit is confirmed. */
class Flusher {
  readonly #log: number
  readonly #flushes = coalesce(() => flushData(this.#log))

  constructor(file: string) {
    this.#log = openSync(`${file}-wal`, 'r+')
    if (process.platform === 'win32') return
    // SQLite would flush the directory entry of the log with its first flush, which is now done here.
    const folder = openSync(dirname(file), 'r')
    fsyncSync(folder)
    closeSync(folder)
  }

  /** Resolves when everything committed so far is on disk. */
  flush(): Promise<void> {
    return this.#flushes.run()
  }

  /** Starts a flush. If it fails, so does the next confirmation. */
  begin(): void {
    this.flush().catch(() => {})
  }

  /** Waits only for flushes that are already in progress. */
  flushed(): Promise<void> {
    return this.#flushes.settled()
  }

  async close(): Promise<void> {
    await this.flushed().catch(() => {})
    closeSync(this.#log)
  }
}

const flushData = promisify(fdatasync)

type Confirmation = Pick<Flusher, 'flush'> | null

class SqliteDriver implements Driver {
  readonly #connections: Connections
  readonly #flusher: Confirmation

  constructor(connections: Connections, flusher: Confirmation) {
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

class SqliteConnection implements DatabaseConnection, DirectTransaction {
  readonly #connections: Connections
  readonly #flusher: Confirmation
  #endTick: (() => void) | null = null

  constructor(connections: Connections, flusher: Confirmation) {
    this.#connections = connections
    this.#flusher = flusher
  }

  async begin() {
    const { writes } = this.#connections
    const { endTick } = await this.#connections.beginWrite(() => writes.run('begin immediate', []))
    this.#endTick = endTick
    this.#connections.transaction = this
    this.#connections.transactions++
  }

  /** If the commit fails, the caller rolls back, and only then the next writer runs. */
  commit() {
    this.#connections.writes.run('commit', [])
    this.#leave()
  }

  rollback() {
    // Committed: only the flush failed, and another writer may be running by now.
    if (!this.#endTick) return
    const { writes } = this.#connections
    try {
      // A failed statement may have rolled the transaction back already; a second rollback would hide the cause.
      if (writes.database.inTransaction) writes.run('rollback', [])
    } finally {
      this.#leave()
    }
  }

  #leave() {
    this.#connections.transaction = null
    this.#endTick?.()
    this.#endTick = null
  }

  run<R>(sql: string, parameters: readonly unknown[]): R[] {
    if (!this.#endTick) throw new Error('the transaction has ended')
    return this.#runInside<R>(sql, parameters).rows
  }

  #runInside<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    this.#connections.queries++
    this.#connections.assertAllowed(sql)
    return this.#connections.writes.run<R>(sql, parameters)
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#endTick) return this.#runInside<R>(sql, parameters)
    const { writes } = this.#connections
    this.#connections.queries++
    if (this.#connections.isRead(sql)) return this.#connections.readLater<R>(sql, parameters)

    this.#connections.assertAllowed(sql)
    const result = await this.#connections.write(() => writes.run<R>(sql, parameters))
    await this.#flusher?.flush()
    return result
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('stream by keyset pages instead: an open cursor would hold the connection')
  }
}
