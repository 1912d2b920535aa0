/**
 * Deletes dependent rows of a row in small batches. Deleting a project with thousands of issues by its row alone is one
 * statement that takes seconds, and blocks all other writers. Here all rows that foreign keys would cascade to are
 * deleted first, deepest first, in batches with pauses in between. Small numbers of rows are left for the cascade when
 * the caller deletes the row. Each batch is independent: after a crash the caller drains again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Store, Tables } from './database.ts'
import { isSqlite } from './dialect.ts'

/** A foreign key column with `on delete cascade`. */
interface Cascade {
  readonly table: string
  readonly column: string
  readonly parent: string
  /** Whether other tables can refer to its rows. */
  readonly hasId: boolean
}

const ROWS_A_STEP = 100
const PAUSE_MS = 2
const DEEPEST = 6

const known = new WeakMap<object, Promise<Map<string, Cascade[]>>>()

interface Draining {
  readonly cascades: ReadonlyMap<string, readonly Cascade[]>
  readonly except: readonly string[]
  readonly signal: AbortSignal | undefined
}

/**
 * Do not call it in a transaction, which would block other writers all the time. `except`: tables whose rows the caller
 * still needs.
 */
export async function drain(
  { store }: { readonly store: Store },
  table: keyof Tables,
  id: number,
  { except = [], signal }: { except?: readonly (keyof Tables)[]; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  if (!known.has(store)) known.set(store, cascadesOf(store.db))
  await drainBelow(store.relaxed, { cascades: await known.get(store)!, except, signal }, [table], [id])
}

async function drainBelow(db: Db, draining: Draining, path: readonly string[], ids: readonly number[]): Promise<void> {
  const { cascades, except, signal } = draining
  for (const cascade of cascades.get(path.at(-1)!) ?? []) {
    // Rows that refer to their own table are left to the database.
    if (path.includes(cascade.table) || except.includes(cascade.table) || path.length > DEEPEST) continue
    for (;;) {
      signal?.throwIfAborted()
      const rows = await someOf(db, cascade, ids)
      if (rows.length > 0 && cascade.hasId) await drainBelow(db, draining, [...path, cascade.table], rows)
      if (rows.length < ROWS_A_STEP) break
      await sql`delete from ${sql.table(cascade.table)} where ${keyOf(db, cascade)} in (${sql.join(rows)})`.execute(db)
      await sleep(PAUSE_MS)
    }
  }
}

/** The key of rows in a table without an id. */
const keyOf = (db: Db, { hasId }: Cascade): RawBuilder<unknown> =>
  sql.raw(hasId ? 'id' : isSqlite(db) ? 'rowid' : 'ctid')

async function someOf(db: Db, cascade: Cascade, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`select ${keyOf(db, cascade)} as key from ${sql.table(cascade.table)}
    where ${sql.ref(cascade.column)} in (${sql.join(ids)}) limit ${ROWS_A_STEP}`.execute(db)
  return rows.map(({ key }) => key)
}

async function cascadesOf(db: Db): Promise<Map<string, Cascade[]>> {
  const { rows } = await (isSqlite(db) ? OF_SQLITE : OF_POSTGRES).execute(db)
  const cascades = rows.map((row) => ({ ...row, hasId: Boolean(row.hasId) }))
  return Map.groupBy(cascades, ({ parent }) => parent)
}

const OF_SQLITE = sql<Cascade>`
  select t.name as "table", f."from" as "column", f."table" as parent,
    exists (select 1 from pragma_table_info(t.name) c where c.name = 'id') as "hasId"
  from sqlite_master t join pragma_foreign_key_list(t.name) f
  where t.type = 'table' and f.on_delete = 'CASCADE' and t.sql not like '%without rowid%'
  order by t.name, f."from"`

const OF_POSTGRES = sql<Cascade>`
  select t.relname as "table", a.attname as "column", p.relname as parent,
    exists (select 1 from pg_attribute c where c.attrelid = t.oid and c.attname = 'id' and c.attnum > 0) as "hasId"
  from pg_constraint f
  join pg_class t on t.oid = f.conrelid
  join pg_class p on p.oid = f.confrelid
  join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
  where f.contype = 'f' and f.confdeltype = 'c' and array_length(f.conkey, 1) = 1
    and t.relnamespace = current_schema()::regnamespace
  order by t.relname, a.attname`
