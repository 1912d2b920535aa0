import { sql } from 'kysely'
import { isSqlite, type AnyDb } from './columns.ts'

/**
 * A substring index over text columns, for texts of at least three characters: FTS5 trigrams maintained by triggers on
 * SQLite, a trigram GIN index on PostgreSQL.
 */
export async function createSubstringIndex(db: AnyDb, table: string, columns: string[]): Promise<void> {
  const list = sql.raw(columns.join(', '))
  const at = (row: string) => sql.raw(columns.map((c) => `${row}.${c}`).join(', '))
  const t = sql.raw(table)
  const index = sql.raw(`${table}_search`)
  if (!isSqlite(db)) {
    await sql`create extension if not exists pg_trgm`.execute(db)
    const operators = sql.raw(columns.map((c) => `${c} gin_trgm_ops`).join(', '))
    await sql`create index ${index} on ${t} using gin (${operators}) with (fastupdate = off)`.execute(db)
    return
  }
  await sql`create virtual table ${index} using fts5(${list}, content=${t}, content_rowid=id, tokenize=trigram)`.execute(
    db,
  )
  await sql`insert into ${index}(${index}) values ('rebuild')`.execute(db)
  const remove = sql`insert into ${index}(${index}, rowid, ${list}) values ('delete', old.id, ${at('old')});`
  const add = sql`insert into ${index}(rowid, ${list}) values (new.id, ${at('new')});`
  await sql`create trigger ${sql.raw(`${table}_search_i`)} after insert on ${t} begin ${add} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_d`)} after delete on ${t} begin ${remove} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_u`)} after update of ${list} on ${t} begin ${remove} ${add} end`.execute(
    db,
  )
}
