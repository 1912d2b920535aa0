/**
 * One migration history for both engines; each migration runs in a transaction, under a lock where several may start.
 */
import { sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import type { Store } from './database.ts'
import * as foundation from './migrations/001-foundation.ts'
import * as tree from './migrations/002-tree.ts'
import * as git from './migrations/003-git.ts'
import * as poolsAndSignatures from './migrations/004-pools-and-signatures.ts'
import * as recordVersions from './migrations/2026-11-16-0900-record-versions.ts'

const migrations: Record<string, Migration> = {
  '001-foundation': foundation,
  '002-tree': tree,
  '003-git': git,
  '004-pools-and-signatures': poolsAndSignatures,
  '2026-11-16-0900-record-versions': recordVersions,
}

/** Brings the schema up to date; returns the names of what was applied. */
export async function migrate(store: Store): Promise<string[]> {
  if (await isUpToDate(store)) return []
  const migrator = new Migrator({ db: store.db, provider: { getMigrations: async () => migrations } })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  return results.filter((r) => r.status === 'Success').map((r) => r.migrationName)
}

/** The library reads the whole schema first, which takes longer than all else that a start asks of the store. */
async function isUpToDate({ db }: Store): Promise<boolean> {
  const query = sql<{ name: string }>`select name from kysely_migration order by name`
  const applied = await query.execute(db).catch(() => null)
  return applied?.rows.map(({ name }) => name).join() === Object.keys(migrations).join()
}
