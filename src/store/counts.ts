/**
 * Totals of lists that do not grow with the table. A counted table bumps its version in the transaction of every change
 * that can alter a count; a total once counted stays true while the versions of its tables stand. So the common case
 * costs one row, and the first list after a change pays for the count.
 */
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely'
import type { Db, Row, Tables } from './database.ts'
import { isSqlite } from './dialect.ts'
import { hotQuery } from './hot.ts'

declare module './database.ts' {
  interface Tables {
    changes: { table_name: string; version: number }
  }
}

const TOTALS_KEPT = 10_000

/** For migrations: counts inserts, deletes and updates of the columns that lists filter by. */
export async function countChanges(db: Kysely<never>, table: string, columns: string[]): Promise<void> {
  const t = sql.raw(table)
  const list = sql.raw(columns.join(', '))
  await sql`insert into changes (table_name, version) values (${sql.lit(table)}, 0)`.execute(db)
  const bump = sql`update changes set version = version + 1 where table_name = ${sql.lit(table)};`
  if (isSqlite(db)) {
    for (const [when, clause] of [
      ['i', 'insert'],
      ['d', 'delete'],
    ] as const) {
      await sql`create trigger ${sql.raw(`${table}_count_${when}`)} after ${sql.raw(clause)} on ${t} begin ${bump} end`.execute(
        db,
      )
    }
    await sql`create trigger ${sql.raw(`${table}_count_u`)} after update of ${list} on ${t} begin ${bump} end`.execute(
      db,
    )
    return
  }
  const bumping = sql.raw(`${table}_changed`)
  await sql`create function ${bumping}() returns trigger language plpgsql as $$ begin ${bump} return null; end $$`.execute(
    db,
  )
  await sql`create trigger ${sql.raw(`${table}_count`)} after insert or delete or update of ${list} on ${t}
    for each statement execute function ${bumping}()`.execute(db)
}

const readVersions = hotQuery<object, Row<'changes'>>((db) => db.selectFrom('changes').selectAll())
const totals = new WeakMap<object, Map<string, { versions: string; total: number }>>()

/** The total known under `key`, counted anew only if one of `tables` changed since. */
export async function keptTotal(
  db: Db,
  tables: readonly (keyof Tables)[],
  key: string,
  count: () => Promise<number>,
): Promise<number> {
  const { adapter } = db.getExecutor()
  const kept = totals.get(adapter) ?? new Map<string, { versions: string; total: number }>()
  if (kept.size === 0) totals.set(adapter, kept)

  let versions = ''
  for (const { table_name, version } of await readVersions(db, {})) {
    if ((tables as readonly string[]).includes(table_name)) versions += `${version},`
  }
  const known = kept.get(key)
  if (known?.versions === versions) return known.total

  const total = await count()
  if (kept.size >= TOTALS_KEPT) kept.clear()
  kept.set(key, { versions, total })
  return total
}

/** How many rows `query` has. Conditions on the current moment have no place in it: the total would never age. */
export async function totalOf<DB, TB extends keyof DB, O>(
  db: Db,
  tables: readonly (keyof Tables)[],
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const counting = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'))
  const { sql: text, parameters } = counting.compile()
  return keptTotal(db, tables, `${text}\n${JSON.stringify(parameters)}`, async () => {
    const { total } = (await counting.executeTakeFirstOrThrow()) as { total: number }
    return Number(total)
  })
}
