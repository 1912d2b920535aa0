/**
 * Inserts rows by the hundred thousand: triggers and indexes are removed in the meantime; the caller maintains the data
 * of triggers.
 */
import { sql } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { isSqlite } from '../src/store/dialect.ts'

/** Without triggers, and without indexes except unique ones. */
export async function setAside(db: Db, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const again: string[] = []
  for (const table of tables) again.push(...(await (isSqlite(db) ? dropOnSqlite : dropOnPostgres)(db, table)))
  await fill()
  for (const statement of again) await sql.raw(statement).execute(db)
}

async function dropOnSqlite(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ type: string; name: string; sql: string }>`select type, name, sql from sqlite_master
    where tbl_name = ${table} and (type = 'trigger' or type = 'index' and sql like 'create index%')`.execute(db)
  for (const { type, name } of rows) await sql`drop ${sql.raw(type)} ${sql.ref(name)}`.execute(db)
  const searches = [`${table}_search_words`, `${table}_search`].filter((search) =>
    rows.some(({ name }) => name === `${search}_i`),
  )
  return [...rows.map((row) => row.sql), ...searches.map((name) => `insert into ${name}(${name}) values ('rebuild')`)]
}

async function dropOnPostgres(db: Db, table: string): Promise<string[]> {
  // Words of texts are in a separate table, which only its trigger maintains.
  const words = `${table}_words`
  const indexes = [...(await dropIndexes(db, table)), ...(await dropIndexes(db, words))]
  await sql`alter table ${sql.table(table)} disable trigger user`.execute(db)
  const { rows } = await sql`select 1 from pg_trigger where tgname = ${words}`.execute(db)
  if (rows.length > 0) await sql`alter table ${sql.table(table)} enable trigger ${sql.ref(words)}`.execute(db)
  return [
    ...indexes,
    ...(['issue_labels', 'issue_assignees'].includes(table)
      ? []
      : [`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`]),
    `alter table ${table} enable trigger user`,
  ]
}

async function dropIndexes(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; sql: string }>`select indexname as name, indexdef as sql from pg_indexes
    where schemaname = current_schema() and tablename = ${table} and indexdef like 'CREATE INDEX%'`.execute(db)
  for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(db)
  return rows.map((row) => row.sql)
}
