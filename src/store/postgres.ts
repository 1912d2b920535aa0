/**
 * PostgreSQL behind Kysely. Every statement is named by its text, so the server plans it once per connection. Columns
 * have their real types; the client converts timestamps, dates and big integers to the form of the store.
 */
import { CompiledQuery, Kysely, PostgresDialect, PostgresDriver, sql, type DatabaseConnection } from 'kysely'
import pg from 'pg'
import { isSystemError } from '../lib/files/system-errors.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHANNELS, StoreUnavailable, type Channel, type Store, type Tables } from './database.ts'
import { openDescribe, type Column } from './direct.ts'
import { isConflict, isOutdated } from './dialect.ts'
import { assertWriteAllowed, isReadStatement } from './read-only.ts'
import { limitTransactions, pauseAfter, TransactionLimiter, TRIES } from './contention.ts'

const OID = { int8: 20, date: 1082, timestamp: 1184, numeric: 1700 }
/** A prepared statement costs the server memory, on each connection. */
const PREPARED_STATEMENTS = 1000

pg.types.setTypeParser(OID.int8, Number)
pg.types.setTypeParser(OID.numeric, Number)
pg.types.setTypeParser(OID.date, (text: string) => text)
pg.types.setTypeParser(OID.timestamp, (text: string) => new Date(text).toISOString())

/** `migrations`: how often a newer version was seen to have migrated the database. */
const counter = { queries: 0, transactions: 0, names: 0, migrations: 0 }

class NamingClient extends pg.Client {
  /** The names of the prepared statements by their text, the least recently used first. */
  readonly #names = new Map<string, string>()
  #migrations = counter.migrations

  // @ts-expect-error the declared overloads cannot be narrowed to the one form Kysely uses
  override query(text: string | pg.QueryConfig, values?: unknown[]) {
    if (typeof text !== 'string' || !values) return super.query(text as string)
    counter.queries++
    return this.#run(text, values).catch(reportLoss)
  }

  /** A statement outside a transaction can be retried alone. Inside one, the whole transaction must be retried. */
  async #run(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const isAlone = this.getTransactionStatus() === 'I'
    for (let tries = 1; ; tries++) {
      try {
        return await this.#send(text, values)
      } catch (error) {
        if (!isAlone || !isConflict(error)) throw error
        if (tries === TRIES) throw new StoreUnavailable(error)
      }
      await pauseAfter(tries)
    }
  }

  async #send(text: string, values: unknown[]): Promise<pg.QueryResult> {
    if (values.length === 0) return super.query(text)
    const name = this.#nameOf(text)
    const { migrations } = counter
    try {
      return await super.query({ name, text, values })
    } catch (error) {
      // Every statement is planned again, on every connection, under another name.
      if (isOutdated(error) && counter.migrations === migrations) counter.migrations++
      throw error
    }
  }

  #nameOf(text: string): string {
    if (this.#migrations !== counter.migrations) this.#names.clear()
    this.#migrations = counter.migrations
    const name = this.#names.get(text) ?? `q${counter.names++}`
    this.#names.delete(text)
    this.#names.set(text, name)
    if (this.#names.size > PREPARED_STATEMENTS) this.#forgetOldest()
    return name
  }

  #forgetOldest(): void {
    const [text, name] = this.#names.entries().next().value!
    this.#names.delete(text)
    const { connection } = this as unknown as { connection: { parsedStatements: Record<string, string> } }
    const { parsedStatements } = connection
    // A statement that the server rejected was not prepared; a failed transaction accepts no command.
    if (!(name in parsedStatements)) return
    delete parsedStatements[name]
    super.query(`deallocate ${name}`).catch(() => {})
  }
}

class ReadOnlyClient extends NamingClient {
  override query(text: string | pg.QueryConfig, values?: unknown[]) {
    if (typeof text === 'string' && values && !isReadStatement(text)) assertWriteAllowed(text)
    return super.query(text, values)
  }
}

function reportLoss(error: unknown): never {
  throw isLoss(error) ? new StoreUnavailable(error) : error
}

/**
 * The server stops, starts or has no connection left; or the connection was lost, which the client reports only as
 * text.
 */
function isLoss(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123]$|53300$)/.test(error.code ?? '')
  return isSystemError(error) || /^Connection terminated|not queryable$/.test((error as Error).message)
}

const CONNECT_TIMEOUT_MS = 10_000
/** A row that is already committed may have to be read for the answer: under load that is worth a long wait. */
const PATIENCE_MS = 30_000
const RETRY_AFTER_MS = 25

class Driver extends PostgresDriver {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super({ pool })
    this.#pool = pool
  }

  override async acquireConnection(...options: Parameters<PostgresDriver['acquireConnection']>) {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await super.acquireConnection(...options)
      } catch (error) {
        if (!this.#isWorthWaiting(error) || performance.now() > deadline) throw new StoreUnavailable(error)
      }
      await sleep(RETRY_AFTER_MS)
    }
  }

  override async beginTransaction(...options: Parameters<PostgresDriver['beginTransaction']>): Promise<void> {
    counter.transactions++
    await super.beginTransaction(...options)
  }

  /** The pool is closed with the store. */
  override async destroy(): Promise<void> {}

  /** The server accepts no more connections, or all of ours are in use: one will be free soon. */
  #isWorthWaiting(error: unknown): boolean {
    if (error instanceof pg.DatabaseError) return error.code === '53300'
    return this.#pool.totalCount > 0 && (error as Error).message.startsWith('timeout exceeded when trying to connect')
  }
}

class RelaxedDriver extends Driver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    counter.transactions++
    await connection.executeQuery(CompiledQuery.raw('begin; set local synchronous_commit to off'))
  }
}

class Dialect extends PostgresDialect {
  readonly #driver: PostgresDriver
  constructor(pool: pg.Pool, driver: PostgresDriver) {
    super({ pool })
    this.#driver = driver
  }
  override createDriver(): PostgresDriver {
    return this.#driver
  }
}

const AGAIN_AFTER_MS = 1000

/** A separate connection that receives announcements of all nodes; opened for the first listener. */
class Ear {
  readonly #url: string
  readonly #listeners = new Set<{ channel: Channel; react: (certain: boolean) => void }>()
  #client: pg.Client | null = null
  #again: NodeJS.Timeout | undefined
  #ended = false

  constructor(url: string) {
    this.#url = url
  }

  add(channel: Channel, react: (certain: boolean) => void): () => void {
    const listener = { channel, react }
    this.#listeners.add(listener)
    if (!this.#client) this.#connect()
    return () => void this.#listeners.delete(listener)
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#again)
    await this.#client?.end().catch(() => {})
  }

  #connect(): void {
    const client = new pg.Client({ connectionString: this.#url })
    this.#client = client
    const lose = () => {
      if (this.#client !== client) return
      this.#client = null
      client.end().catch(() => {})
      clearTimeout(this.#again)
      if (!this.#ended) this.#again = setTimeout(() => this.#connect(), AGAIN_AFTER_MS).unref()
    }
    client.on('error', lose)
    client.on('end', lose)
    client.on('notification', ({ channel }) => this.#tell(channel, true))
    // Announcements in the meantime were lost.
    client
      .connect()
      .then(() => client.query(CHANNELS.map((channel) => `listen ${channel}`).join('; ')))
      .then(() => CHANNELS.forEach((channel) => this.#tell(channel, false)), lose)
  }

  #tell(channel: string, certain: boolean): void {
    for (const listener of this.#listeners) if (listener.channel === channel) listener.react(certain)
  }
}

const TIMESTAMP_FROM_JSON = (json: unknown) => new Date(json as string).toISOString()

async function columnsOf(pool: pg.Pool, sql: string, parameters: readonly unknown[]): Promise<Column[]> {
  const client = await pool.connect()
  try {
    const { fields } = await client.query(`select * from (${sql}) t limit 0`, [...parameters])
    return fields.map(({ name, dataTypeID }) =>
      dataTypeID === OID.timestamp ? { name, read: TIMESTAMP_FROM_JSON } : { name },
    )
  } finally {
    client.release()
  }
}

/**
 * Connections that transactions cannot use: reads outside transactions get one even while writers wait for each other.
 */
const reserveOf = (poolSize: number) => Math.min(poolSize - 1, Math.ceil(poolSize / 4))

/**
 * Pools that outlive the store, by URL: a forge of a test uses the connections of the one before, which know the tables
 * and have planned the statements. `null`: the pool is in use, or not opened.
 */
export const lastingPools = new Map<string, pg.Pool | null>()

/** The clients of a read-only store refuse writes, so its pool serves no other store. */
function openPool(url: string, poolSize: number, readOnly: boolean): pg.Pool {
  const isLasting = !readOnly && lastingPools.has(url)
  const warm = isLasting ? lastingPools.get(url) : null
  if (isLasting) lastingPools.set(url, null)
  if (warm?.options.max === poolSize) return warm
  void warm?.end()
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Compiling a query takes longer than running any of ours.
    options: '-c jit=off',
    Client: (readOnly ? ReadOnlyClient : NamingClient) as unknown as typeof pg.Client,
    allowExitOnIdle: isLasting,
  })
  // A lost idle connection must not end the process; the next query opens another.
  pool.on('error', () => {})
  // Nor a connection that is lost while it is checked out and idle: the next query on it fails.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** A pool with a connection in use does not outlive the store: the statement might end after the next one has begun. */
async function closePool(url: string, pool: pg.Pool): Promise<void> {
  if (lastingPools.has(url) && pool.idleCount === pool.totalCount) lastingPools.set(url, pool)
  else await pool.end()
}

export function openPostgres(
  url: string,
  { poolSize, readOnly = false }: { poolSize: number; readOnly?: boolean },
): Store {
  const pool = openPool(url, poolSize, readOnly)
  const db = new Kysely<Tables>({ dialect: new Dialect(pool, new Driver(pool)) })
  const relaxed = new Kysely<Tables>({ dialect: new Dialect(pool, new RelaxedDriver(pool)) })
  const limiter = new TransactionLimiter(poolSize - reserveOf(poolSize))
  for (const { adapter } of [db.getExecutor(), relaxed.getExecutor()]) {
    limitTransactions(adapter, limiter)
    openDescribe(adapter, (sql, parameters) => columnsOf(pool, sql, parameters))
  }
  const ear = new Ear(url)
  return {
    engine: 'postgres',
    db,
    relaxed,
    early: db,
    // A commit is visible to others only once it is on disk.
    flushed: () => Promise.resolve(),
    listen: (channel, react) => ear.add(channel, react),
    get queries() {
      return counter.queries
    },
    get transactions() {
      return counter.transactions
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    // PostgreSQL checks its pages when it reads them; this lists indexes and constraints that were never
    // finished.
    async faults() {
      const { rows } = await sql<{ name: string }>`
        select indexrelid::regclass::text as name from pg_index where not indisvalid
        union all select conrelid::regclass || '.' || conname from pg_constraint where not convalidated`.execute(db)
      return rows.map(({ name }) => `${name} is not valid`)
    },
    async close() {
      await ear.end()
      await Promise.all([db.destroy(), relaxed.destroy()])
      await (readOnly ? pool.end() : closePool(url, pool))
    },
  }
}
