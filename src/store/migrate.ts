/** Brings a schema up to date: an empty database gets the ready schema, an older one the migrations it lacks. */
import { sql } from 'kysely'
import type { Db, Store, TransactionDb } from './database.ts'
import { isMissingTable } from './engine-errors.ts'
import { listMigrations, MIGRATIONS, runMigrations, type Watch } from './history.ts'
import { readySchema } from './ready-schema.ts'

/**
 * Returns the names of the migrations that ran. A SQLite database already has the ready schema before it is opened
 * (`open.ts`).
 */
export async function migrate(store: Store, folder = MIGRATIONS, watch?: Watch): Promise<string[]> {
  let applied = await appliedTo(store.db)
  if (applied === null && store.engine === 'postgres' && (await takeScript(store.db)))
    applied = await appliedTo(store.db)
  const migrations = await listMigrations(applied ?? [], folder)
  // The library first reads the whole schema, which takes longer than all other queries of a start together.
  const isUpToDate = applied?.length === migrations.size && applied.every((name) => migrations.has(name))
  return isUpToDate ? [] : runMigrations(store.db, migrations, watch)
}

/** The migrations that the database lacks. Throws if a newer version has migrated it. */
export async function pendingMigrations({ db }: Store, folder = MIGRATIONS): Promise<string[]> {
  const applied = (await appliedTo(db)) ?? []
  const migrations = await listMigrations(applied, folder)
  const unknown = applied.find((name) => !migrations.has(name))
  if (unknown !== undefined) throw new Error(`previously executed migration ${unknown} is missing`)
  return [...migrations.keys()].filter((name) => !applied.includes(name))
}

/** Whether the database was ever migrated by us. */
export const isMigrated = async ({ db }: Store): Promise<boolean> => ((await appliedTo(db))?.length ?? 0) > 0

async function appliedTo(db: Db): Promise<string[] | null> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
    return rows.map(({ name }) => name)
  } catch (error) {
    if (isMissingTable(error)) return null
    throw error
  }
}

async function takeScript(db: Db): Promise<boolean> {
  const script = await readySchema('postgres')
  if (!script) return false
  await db.transaction().execute(async (db) => {
    // Of two processes that start, the second one finds the schema ready.
    await lockMigrations(db)
    const { rows } = await sql<{ made: string | null }>`select to_regclass('kysely_migration') as made`.execute(db)
    if (rows[0]!.made === null) await sql.raw(script.toString()).execute(db)
  })
  return true
}

/** The lock of the library, until the transaction ends. */
export const lockMigrations = (db: TransactionDb): Promise<void> =>
  db.getExecutor().adapter.acquireMigrationLock(db, LOCK)

const LOCK = { lockTable: 'kysely_migration_lock', lockRowId: 'migration_lock' }
