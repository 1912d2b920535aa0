/**
 * One migration history for both engines; migrations run in a transaction, under a lock where several processes start.
 * Every file of `migrations/` is one, named by its time. It is loaded only where it has not been applied yet.
 */
import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Store } from './database.ts'

/** Beside this file among the sources, beside the program where it is built. */
export const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** Brings the schema up to date; returns the names of what was applied. */
export async function migrate(store: Store, folder = MIGRATIONS): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => /^[^.]+\.[jt]s$/.test(file))
  const migrations = Object.fromEntries(files.map((file) => [file.slice(0, -3), loadedLater(new URL(file, folder))]))
  if (await isUpToDate(store, Object.keys(migrations))) return []
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db: store.db,
    provider: { getMigrations: async () => migrations },
    // Of two that were written side by side, the older may be merged last.
    allowUnorderedMigrations: true,
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  return results.filter((r) => r.status === 'Success').map((r) => r.migrationName)
}

const loadedLater = ({ href }: URL): Migration => ({
  up: async (db) => ((await import(href)) as Migration).up(db),
})

/** Whether it was ever ours. */
export async function isMigrated({ db }: Store): Promise<boolean> {
  const applied = await sql`select name from kysely_migration limit 1`.execute(db).catch(() => null)
  return applied !== null && applied.rows.length > 0
}

/** The library reads the whole schema first, which takes longer than all else that a start asks of the store. */
async function isUpToDate({ db }: Store, names: readonly string[]): Promise<boolean> {
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch(() => null)
  return applied?.rows.length === names.length && applied.rows.every(({ name }) => names.includes(name))
}
