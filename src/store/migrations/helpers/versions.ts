import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from './columns.ts'

/** Adds the column `version`, which every update increments (`store/versions.ts` reads it). */
export async function keepVersions(db: Kysely<never>, table: string): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .alterTable(table)
    .addColumn('version', ref, (c) => c.notNull().defaultTo(1))
    .execute()
  await raiseVersions(db, table)
}

/** The trigger alone, for a table that has the column. */
export async function raiseVersions(db: Kysely<never>, table: string): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  if (isSqlite(db)) {
    await run(`create trigger ${table}_version after update on ${table} when new.version = old.version
      begin update ${table} set version = old.version + 1 where id = old.id; end`)
    return
  }
  await run(`create or replace function raise_version() returns trigger language plpgsql as $$ begin
    new.version := old.version + 1;
    return new;
  end $$`)
  await run(`create trigger ${table}_version before update on ${table} for each row execute function raise_version()`)
}
