/**
 * SQLite behind Kysely. One connection writes, one only reads: in WAL mode a reader sees the last committed state, so
 * reads never wait for an open write transaction. Write transactions start IMMEDIATE and queue here, in order, instead
 * of meeting as busy errors. Statements are prepared once per SQL text.
 */
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
import type { Store, Tables } from './database.ts'
import { openDirect, type Direct } from './direct.ts'

const STATEMENTS_KEPT = 1000
const BUSY_TIMEOUT_MS = 10_000

export function openSqlite(file: string, { durable }: { durable: boolean }): Store {
  const writer = new Database(file)
  writer.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  writer.pragma('journal_mode = WAL')
  // FULL also survives a power cut, not only the death of the process; tests do without the disk's patience.
  writer.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`)
  writer.pragma('foreign_keys = ON')

  const driver = new SqliteDriver(writer, file)
  const adapter = new TransactionalSqliteAdapter()
  openDirect(adapter, driver)
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new CalmSqliteCompiler(),
    },
  })
  return {
    engine: 'sqlite',
    db,
    get queries() {
      return driver.queries
    },
    async ping() {
      writer.prepare('select 1').get()
    },
    async close() {
      await db.destroy()
      driver.closeFiles()
    },
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

class SqliteDriver implements Driver, Direct {
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

  async init() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new SqliteConnection(this)
  }

  async beginTransaction(connection: DatabaseConnection) {
    await (connection as SqliteConnection).begin()
  }

  async commitTransaction(connection: DatabaseConnection) {
    ;(connection as SqliteConnection).end('commit')
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    ;(connection as SqliteConnection).end('rollback')
  }

  async releaseConnection() {}

  async destroy() {}

  read<R>(sql: string, parameters: readonly unknown[]): R[] {
    this.queries++
    return this.reads.run<R>(sql, parameters).rows
  }

  closeFiles() {
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
  readonly #driver: SqliteDriver
  #endTurn: (() => void) | null = null

  constructor(driver: SqliteDriver) {
    this.#driver = driver
  }

  async begin() {
    const endTurn = await this.#driver.writeTurn()
    try {
      this.#driver.writes.run('begin immediate', [])
    } catch (error) {
      endTurn()
      throw error
    }
    this.#endTurn = endTurn
  }

  end(how: 'commit' | 'rollback') {
    try {
      // A failed statement may have rolled the transaction back already; a second rollback would throw over the cause.
      if (how === 'commit' || this.#driver.writes.database.inTransaction) this.#driver.writes.run(how, [])
    } finally {
      this.#endTurn?.()
      this.#endTurn = null
    }
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { reads, writes } = this.#driver
    this.#driver.queries++
    if (this.#endTurn) return writes.run<R>(sql, parameters)
    if (reads.isReadOnly(sql)) return reads.run<R>(sql, parameters)

    const endTurn = await this.#driver.writeTurn()
    try {
      return writes.run<R>(sql, parameters)
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
