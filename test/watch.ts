/** Detects every inserted, updated or deleted row, in any table. */
import { sql } from 'kysely'
import type { TestForge } from '../src/forge.ts'
import { isSqlite } from '../src/store/dialect.ts'

/** Tables that reads and rejected requests may write. */
const UNWATCHED_TABLES = [
  /^throttles$/, // attempts are counted, including failed ones
  /_search/, // indexes, which follow their tables
  /_facets$|^changes$/, // counts that follow their tables; a reader of many rows merges them
  /^(sqlite|kysely)_/, // internal tables
]
/** A call updates these, whatever its answer. */
const UNWATCHED_COLUMNS = /^last_(activity_on|used_(at|ips))$/

/** Returns a function that names the tables written since the last call. */
export async function watchTables({ app: { db } }: TestForge): Promise<() => Promise<string[]>> {
  const run = (text: string) => sql.raw(text).execute(db)
  const serial = isSqlite(db) ? 'integer primary key' : 'bigserial primary key'
  const tables = await db.introspection.getTables()
  await run(`create table written (id ${serial}, name text)`)
  for (const { name, columns, isView } of tables) {
    if (isView || UNWATCHED_TABLES.some((pattern) => pattern.test(name))) continue
    const note = `insert into written (name) values ('${name}');`
    const watched = columns.map((column) => column.name).filter((column) => !UNWATCHED_COLUMNS.test(column))
    const events = ['insert', 'delete', `update of ${watched.map((column) => `"${column}"`).join(', ')}`]
    if (isSqlite(db))
      for (const [n, event] of events.entries())
        await run(`create trigger written_${n}_${name} after ${event} on ${name} begin ${note} end`)
    else {
      await run(`create function written_${name}() returns trigger language plpgsql as
        $$ begin ${note} return null; end $$`)
      await run(`create trigger written after ${events.join(' or ')} on ${name}
        for each row execute function written_${name}()`)
    }
  }
  let seen = 0
  return async () => {
    const query = sql<{ id: number; name: string }>`select id, name from written where id > ${seen} order by id`
    const { rows } = await query.execute(db)
    seen = Number(rows.at(-1)?.id ?? seen)
    return [...new Set(rows.map(({ name }) => name))]
  }
}

/** All stored data, table by table, except when a token was last used. */
export async function everything({ app: { db } }: TestForge): Promise<Record<string, string>> {
  const tables = await db.introspection.getTables()
  const kept = tables.filter(({ name, isView }) => !isView && !/_search|sqlite_|kysely/.test(name))
  const contents = kept.map(async ({ name }) => {
    const rows = await db
      .selectFrom(name as 'users')
      .selectAll()
      .execute()
    const text = (row: unknown) =>
      JSON.stringify(row, (key, value) => (key.startsWith('last_used') ? undefined : value))
    // A rewritten row may be in another position in some databases.
    return [name, rows.map(text).toSorted().join()] as const
  })
  return Object.fromEntries(await Promise.all(contents))
}
