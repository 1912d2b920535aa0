/** Facts about the columns of all tables, read from the database. */
import { sql } from 'kysely'
import { weakMemoAsync } from '../lib/async/weak-memo.ts'
import type { Db, Store } from './database.ts'
import { isSqlite } from './dialect.ts'

export interface Columns {
  /** Columns whose values may be long. */
  readonly text: readonly string[]
  /** Columns that a row is inserted with: all but those that the database computes. */
  readonly stored: readonly string[]
}

const NONE: Columns = { text: [], stored: [] }

const allColumns = weakMemoAsync(({ db }: Store) => readAll(db))

export async function columnsOf(store: Store, table: string): Promise<Columns> {
  return (await allColumns(store)).get(table) ?? NONE
}

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly generated: boolean | number
}

async function readAll(db: Db): Promise<Map<string, Columns>> {
  const { rows } = await (isSqlite(db) ? OF_SQLITE : OF_POSTGRES).execute(db)
  const tables = new Map<string, Columns>()
  for (const [table, columns] of Map.groupBy(rows, ({ table }) => table))
    tables.set(table, {
      text: columns.filter(({ type }) => type === 'text').map(({ column }) => column),
      stored: columns.filter(({ generated }) => !generated).map(({ column }) => column),
    })
  return tables
}

const OF_SQLITE = sql<Column>`
  select t.name as "table", c.name as "column", c.type, c.hidden in (2, 3) as generated
  from sqlite_master t join pragma_table_xinfo(t.name) c
  where t.type = 'table' and t.sql not like 'create virtual%'`

const OF_POSTGRES = sql<Column>`
  select t.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type,
    a.attgenerated <> '' as generated
  from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  where t.relkind = 'r' and t.relnamespace = current_schema()::regnamespace`
