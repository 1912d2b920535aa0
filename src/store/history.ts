/**
 * One migration history for both engines; migrations run in a transaction, under a lock where several processes start.
 * Every file of `migrations/` is one, named by its time. It is loaded only where it has not been applied yet.
 */
import { readdir } from 'node:fs/promises'
import type { Migration } from 'kysely/migration'
import type { Db } from './database.ts'

/** Beside this file among the sources, beside the program where it is built. */
export const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** Where each is, by its name. */
export async function listMigrations(folder = MIGRATIONS): Promise<ReadonlyMap<string, URL>> {
  const files = (await readdir(folder)).filter((file) => /^[^.]+\.[jt]s$/.test(file))
  return new Map(files.toSorted().map((file) => [file.slice(0, -3), new URL(file, folder)]))
}

/** Runs those that were not applied yet; returns their names. */
export async function runMigrations(db: Db, known?: ReadonlyMap<string, URL>): Promise<string[]> {
  const migrations = [...(known ?? (await listMigrations()))].map(([name, url]) => [name, loadedLater(url)] as const)
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
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
