/**
 * One migration history for both databases. Migrations run in a transaction, under a lock if several processes start at
 * once. Every file of `migrations/` is one, named by its time. A file is loaded only if it has not been applied yet.
 */
import { readdir } from 'node:fs/promises'
import type { Migration } from 'kysely/migration'
import type { Db } from './database.ts'

/** Next to this file in the sources, and next to the program in a build. */
export const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** The URL of each migration, by its name. */
export async function listMigrations(folder = MIGRATIONS): Promise<ReadonlyMap<string, URL>> {
  const files = (await readdir(folder)).filter((file) => /^[^.]+\.[jt]s$/.test(file))
  return new Map(files.toSorted().map((file) => [file.slice(0, -3), new URL(file, folder)]))
}

/** Runs the pending migrations and returns their names. */
export async function runMigrations(db: Db, known?: ReadonlyMap<string, URL>): Promise<string[]> {
  const migrations = [...(known ?? (await listMigrations()))].map(([name, url]) => [name, loadedLater(url)] as const)
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
    // Of two migrations written in parallel, the older one may be merged last.
    allowUnorderedMigrations: true,
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  return results.filter((r) => r.status === 'Success').map((r) => r.migrationName)
}

const loadedLater = ({ href }: URL): Migration => ({
  up: async (db) => ((await import(href)) as Migration).up(db),
})
