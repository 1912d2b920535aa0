/**
 * Builds the ready schemas by running the migrations: an image of a database for SQLite, and for PostgreSQL the script
 * of all statements. This needs no PostgreSQL server: an empty database has nothing to read.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
} from 'kysely'
import { makeTemporaryFolder } from '../lib/files/temporary-folder.ts'
import type { Store, Tables } from './database.ts'
import { runMigrations, type Migrations } from './history.ts'
import { openSqlite } from './sqlite.ts'

const compress = promisify(gzip)

export const makeSchema = async (engine: Store['engine']): Promise<Buffer> =>
  compress(engine === 'sqlite' ? await makeImage() : await makeScript(), { level: 9 })

async function makeImage(): Promise<Buffer> {
  const folder = await makeTemporaryFolder()
  try {
    const file = join(folder, 'schema.sqlite')
    const store = openSqlite(file, { durable: false, shared: false })
    await runMigrations(store.db)
    await store.close()
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const makeScript = (): Promise<string> => schemaScript()

/** The statements of these migrations for an empty PostgreSQL database. Default: all migrations. */
export async function schemaScript(migrations?: Migrations): Promise<string> {
  const statements: string[] = []
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new RecordingDriver(statements),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  await runMigrations(db, migrations)
  return statements.map((statement) => `${statement};\n`).join('')
}

/** Answers every query with no rows, as an empty database would. */
class RecordingDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(statements: string[]) {
    this.#connection = {
      executeQuery: async (query: CompiledQuery) => {
        if (query.query.kind !== 'SelectQueryNode') statements.push(withLiterals(query))
        return { rows: [] }
      },
      streamQuery: () => {
        throw new Error('a migration streams nothing')
      },
    }
  }

  async init() {}
  async acquireConnection() {
    return this.#connection
  }
  async beginTransaction() {}
  async commitTransaction() {}
  async rollbackTransaction() {}
  async releaseConnection() {}
  async destroy() {}
}

/** PostgreSQL accepts several statements at once only without parameters. */
function withLiterals({ sql, parameters }: CompiledQuery): string {
  if (parameters.length === 0) return sql
  return sql.replace(/\$(\d+)/g, (_, number) => literal(parameters[Number(number) - 1]))
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  throw new Error(`a migration sends a value that is no text, number or boolean: ${typeof value}`)
}
