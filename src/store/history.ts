/**
 * One migration history for both databases. Migrations run in a transaction, under a lock if several processes start at
 * once. Every file of `migrations/` is one, named by its time. A file is loaded only if it has not been applied yet.
 *
 * A new database begins with the baseline. A database that is older than the baseline gets the migrations of
 * `migrations/before-baseline/` that it lacks, which make the same schema.
 */
import { readdir } from 'node:fs/promises'
import type { Migration } from 'kysely/migration'
import type { Db } from './database.ts'

/** Next to this file in the sources, and next to the program in a build. */
export const MIGRATIONS = new URL('./migrations/', import.meta.url)

export const BASELINE = '000-baseline'
/**
 * The last migration of the newest release. Later ones can be taken back as a whole, and need a way back (`down`).
 * After a release, this becomes the last migration of that release.
 */
export const RELEASED = BASELINE
/** Every database that is older than the baseline has this one. */
const FIRST = '001-foundation'

/** Migrations by name. Null: nothing has to be done, because earlier migrations did the same. */
export type Migrations = ReadonlyMap<string, URL | null>

/** The history of a database to which these migrations were applied. */
export async function listMigrations(applied: readonly string[] = [], folder = MIGRATIONS): Promise<Migrations> {
  const migrations = await filesOf(folder)
  if (!applied.includes(FIRST)) return new Map(migrations)
  const earlier = await filesOf(new URL('before-baseline/', folder))
  return new Map([...earlier, ...migrations, [BASELINE, null]])
}

async function filesOf(folder: URL): Promise<[name: string, URL][]> {
  const files = (await readdir(folder)).filter((file) => /^[^.]+\.[jt]s$/.test(file))
  return files.toSorted().map((file) => [file.slice(0, -3), new URL(file, folder)])
}

/** Called for each migration. */
export interface Watch {
  began(name: string): void
  applied(name: string, ms: number): void
}

/** Runs the pending migrations and returns their names. */
export async function runMigrations(db: Db, known?: Migrations, watch?: Watch): Promise<string[]> {
  const listed = [...(known ?? (await listMigrations()))]
  const migrations = listed.map(([name, url]) => [name, loadedLater(name, url, watch)] as const)
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

const loadedLater = (name: string, url: URL | null, watch?: Watch): Migration => ({
  up: async (db) => {
    const migration = url && ((await import(url.href)) as Migration)
    watch?.began(name)
    const start = performance.now()
    await migration?.up(db)
    watch?.applied(name, performance.now() - start)
  },
})
