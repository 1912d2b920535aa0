import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../test/empty-database.ts'
import { describeSchema } from '../../test/schema.ts'
import type { Db } from './database.ts'
import { isSqlite } from './dialect.ts'
import { listMigrations, runMigrations } from './history.ts'
import { migrate } from './migrate.ts'

/** Every row of every table, without the times at which migrations ran. */
async function readSeeds(db: Db): Promise<Record<string, string[]>> {
  const { rows: tables } = await (
    isSqlite(db)
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
  ).execute(db)
  const seeds: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db)
    const texts = rows.map((row) => JSON.stringify(name === 'kysely_migration' ? row['name'] : row))
    if (texts.length > 0) seeds[name] = texts.toSorted()
  }
  return seeds
}

test('the ready schema is what the migrations make', async () => {
  await using here = await emptyDatabase()
  await using there = await emptyDatabase()
  const [ready, migrated] = [await here.open(), await there.openEmpty()]
  expect(await migrate(ready)).toEqual([])
  const all = [...(await listMigrations()).keys()]
  expect(await runMigrations(migrated.db)).toEqual(all)

  expect(await describeSchema(ready.db)).toEqual(await describeSchema(migrated.db))
  expect(await readSeeds(ready.db)).toEqual(await readSeeds(migrated.db))
})

test('older data gets the migrations from before the baseline that it lacks, and the same schema', async () => {
  await using here = await emptyDatabase()
  await using there = await emptyDatabase()
  const [ready, older] = [await here.open(), await there.openEmpty()]
  await migrate(ready)
  const all = await listMigrations(['001-foundation'])
  const first = new Map([...all].slice(0, Math.floor(all.size / 2)))
  expect(await runMigrations(older.db, first)).toEqual([...first.keys()])
  expect(await migrate(older)).toHaveLength(all.size - first.size)
  expect(await migrate(older)).toEqual([])
  expect(await describeSchema(older.db)).toEqual(await describeSchema(ready.db))
})

test('of processes that start on an empty database at once, each finds it ready', async () => {
  await using place = await emptyDatabase()
  const stores = await Promise.all([place.open(), place.open()])
  expect(await Promise.all(stores.map((store) => migrate(store)))).toEqual([[], []])
})
