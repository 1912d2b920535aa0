import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../config.ts'
import { makeTemporaryFolder } from '../lib/files/temporary-folder.ts'
import type { Db, Store } from './database.ts'
import { isSqlite } from './dialect.ts'
import { listMigrations, runMigrations } from './history.ts'
import { migrate } from './migrate.ts'
import { openStore } from './open.ts'
import { openSqlite } from './sqlite.ts'
import { postgresDatabase } from './temporary.ts'

const OPTIONS = { durable: false, shared: true, poolSize: 2 }

interface Scope extends AsyncDisposable {
  /** As a starting process opens it. */
  open(): Promise<Store>
  /** Without the image that SQLite would use. */
  openEmpty(): Promise<Store>
}

/** A location without a database. */
async function makePlace(): Promise<Scope> {
  const stores: Store[] = []
  const kept = (store: Store) => {
    stores.push(store)
    return store
  }
  const close = () => Promise.all(stores.map((store) => store.close()))
  const server = testDatabaseUrl()
  if (server) {
    const { url, drop } = await postgresDatabase(server)
    const open = async () => kept(await openStore(url, OPTIONS))
    return { open, openEmpty: open, [Symbol.asyncDispose]: () => close().then(drop) }
  }
  const folder = await makeTemporaryFolder()
  const file = join(folder, 'mortise.sqlite')
  return {
    open: async () => kept(await openStore(file, OPTIONS)),
    openEmpty: async () => kept(openSqlite(file, OPTIONS)),
    [Symbol.asyncDispose]: () => close().then(() => rm(folder, { recursive: true })),
  }
}

const QUERIES = [
  sql`select 'column' as kind, table_name || '.' || column_name as name, (ordinal_position, column_default, is_nullable,
    data_type, collation_name, is_identity, identity_generation, generation_expression)::text as definition
    from information_schema.columns where table_schema = 'public'`,
  sql`select 'constraint' as kind, conrelid::regclass || '.' || conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = 'public'::regnamespace`,
  sql`select 'index' as kind, indexname as name, indexdef as definition from pg_indexes where schemaname = 'public'`,
  sql`select 'trigger' as kind, tgrelid::regclass || '.' || tgname as name, pg_get_triggerdef(oid) as definition
    from pg_trigger where not tgisinternal`,
  sql`select 'function' as kind, p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition
    from pg_proc p left join pg_depend d on d.objid = p.oid and d.deptype = 'e'
    where pronamespace = 'public'::regnamespace and prokind <> 'a' and d.objid is null`,
  sql`select 'view' as kind, viewname as name, definition from pg_views where schemaname = 'public'`,
  sql`select 'extension' as kind, extname as name, extversion as definition from pg_extension`,
  sql`select 'statistics' as kind, stxname as name, pg_get_statisticsobjdef(oid) as definition from pg_statistic_ext`,
  sql`select 'storage' as kind, relname as name, reloptions::text as definition from pg_class
    where relnamespace = 'public'::regnamespace and reloptions is not null`,
  sql`select 'sequence' as kind, sequencename as name, (start_value, increment_by, last_value)::text as definition
    from pg_sequences where schemaname = 'public'`,
]

/** The whole schema of a database, one line per object. */
async function describeSchema(db: Db): Promise<string[]> {
  const queries = isSqlite(db) ? [sql`select type as kind, name, sql as definition from sqlite_master`] : QUERIES
  const lines: string[] = []
  for (const query of queries)
    for (const row of (await query.execute(db)).rows as Record<string, string>[])
      lines.push(`${row['kind']} ${row['name']}: ${row['definition']}`)
  return lines.toSorted()
}

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

test('the ready schema is what the migrations make, whether run at once or from older data', async () => {
  await using here = await makePlace()
  await using there = await makePlace()
  const [ready, migrated] = [await here.open(), await there.openEmpty()]
  expect(await migrate(ready)).toEqual([])
  const all = await listMigrations()
  const older = new Map([...all].slice(0, Math.floor(all.size / 2)))
  expect(await runMigrations(migrated.db, older)).toEqual([...older.keys()])
  expect(await migrate(migrated)).toHaveLength(all.size - older.size)

  expect(await describeSchema(ready.db)).toEqual(await describeSchema(migrated.db))
  expect(await readSeeds(ready.db)).toEqual(await readSeeds(migrated.db))
})

test('of processes that start on an empty database at once, each finds it ready', async () => {
  await using place = await makePlace()
  const stores = await Promise.all([place.open(), place.open()])
  expect(await Promise.all(stores.map((store) => migrate(store)))).toEqual([[], []])
})
