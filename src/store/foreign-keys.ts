/** The foreign keys of the schema, read from the database. */
import { sql, type RawBuilder } from 'kysely'
import { weakMemoAsync } from '../lib/async/weak-memo.ts'
import type { Db, Store } from './database.ts'
import { isSqlite } from './dialect.ts'

/** A foreign key of one column that refers to the id of another table. */
export interface ForeignKey {
  readonly table: string
  readonly column: string
  readonly parent: string
  /** What deleting the referenced row does to the row that refers to it. */
  readonly onDelete: 'cascade' | 'set null' | 'restrict'
  /** Whether other tables can refer to the rows of `table`. */
  readonly hasId: boolean
}

export const foreignKeysOf = weakMemoAsync(({ db }: Store): Promise<readonly ForeignKey[]> => readAll(db))

/** The column that names a row of `table`: rows without an id have a key of the database's own. */
export const rowKey = (db: Db, { hasId }: ForeignKey): RawBuilder<unknown> =>
  sql.raw(hasId ? 'id' : isSqlite(db) ? 'rowid' : 'ctid')

async function readAll(db: Db): Promise<ForeignKey[]> {
  const { rows } = await (isSqlite(db) ? OF_SQLITE : OF_POSTGRES).execute(db)
  return rows.map((row) => ({ ...row, hasId: Boolean(row.hasId) }))
}

const OF_SQLITE = sql<ForeignKey>`
  select t.name as "table", f."from" as "column", f."table" as parent,
    case f.on_delete when 'CASCADE' then 'cascade' when 'SET NULL' then 'set null' else 'restrict' end as "onDelete",
    exists (select 1 from pragma_table_info(t.name) c where c.name = 'id') as "hasId"
  from sqlite_master t join pragma_foreign_key_list(t.name) f
  where t.type = 'table' and t.sql not like '%without rowid%'
  order by t.name, f."from"`

const OF_POSTGRES = sql<ForeignKey>`
  select t.relname as "table", a.attname as "column", p.relname as parent,
    case f.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'restrict' end as "onDelete",
    exists (select 1 from pg_attribute c where c.attrelid = t.oid and c.attname = 'id' and c.attnum > 0) as "hasId"
  from pg_constraint f
  join pg_class t on t.oid = f.conrelid
  join pg_class p on p.oid = f.confrelid
  join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
  where f.contype = 'f' and array_length(f.conkey, 1) = 1
    and t.relnamespace = current_schema()::regnamespace
  order by t.relname, a.attname`
