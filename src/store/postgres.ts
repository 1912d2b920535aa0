/**
 * PostgreSQL behind Kysely. Every statement is named by its text, so the server plans it once per connection. Columns
 * have their real types; the client hands moments, dates and big integers over in the store's own form.
 */
import { CompiledQuery, Kysely, PostgresDialect, PostgresDriver, sql, type DatabaseConnection } from 'kysely'
import pg from 'pg'
import type { Store, Tables } from './database.ts'

const OID = { int8: 20, date: 1082, timestamp: 1184, numeric: 1700 }
const NAMED_STATEMENTS = 1000

pg.types.setTypeParser(OID.int8, Number)
pg.types.setTypeParser(OID.numeric, Number)
pg.types.setTypeParser(OID.date, (text: string) => text)
pg.types.setTypeParser(OID.timestamp, (text: string) => new Date(text).toISOString())

const names = new Map<string, string>()
const counter = { queries: 0 }

class NamingClient extends pg.Client {
  // @ts-expect-error the declared overloads cannot be narrowed to the one form Kysely uses
  override query(text: string | pg.QueryConfig, values?: unknown[]) {
    if (typeof text !== 'string' || !values) return super.query(text as string)
    counter.queries++
    if (values.length === 0) return super.query(text)
    let name = names.get(text)
    if (!name && names.size < NAMED_STATEMENTS) names.set(text, (name = `q${names.size}`))
    return super.query(name ? { name, text, values } : { text, values })
  }
}

class RelaxedDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin; set local synchronous_commit to off'))
  }
  /** The pool is not its own. */
  override async destroy(): Promise<void> {}
}

class RelaxedDialect extends PostgresDialect {
  readonly #pool: pg.Pool
  constructor(pool: pg.Pool) {
    super({ pool })
    this.#pool = pool
  }
  override createDriver(): PostgresDriver {
    return new RelaxedDriver({ pool: this.#pool })
  }
}

export function openPostgres(url: string, { poolSize }: { poolSize: number }): Store {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 10_000,
    Client: NamingClient as unknown as typeof pg.Client,
  })
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    engine: 'postgres',
    db,
    relaxed: new Kysely<Tables>({ dialect: new RelaxedDialect(pool) }),
    // Others see a commit once it is on disk.
    flushed: () => Promise.resolve(),
    get queries() {
      return counter.queries
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    async close() {
      await db.destroy()
      // Kysely ends the pool only once it has used it.
      if (!pool.ended) await pool.end()
    },
  }
}
