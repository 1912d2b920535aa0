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

const readVersions = hotQuery<Record<string, never>, Row<'changes'>>((db) => db.selectFrom('changes').selectAll())
const totals = new WeakMap<object, Map<string, { versions: string; total: number }>>()

/** How many rows `query` has; `tables` are the counted tables it depends on. Conditions on the current time have no place here. */
export async function totalOf<DB, TB extends keyof DB, O>(
  db: Db,
  tables: (keyof Tables)[],
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const counting = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'))
  const { sql: text, parameters } = counting.compile()
  const key = `${text}\n${JSON.stringify(parameters)}`
  const changes = await readVersions(db, {})
  const versions = changes
    .filter((c) => (tables as string[]).includes(c.table_name))
    .map((c) => c.version)
    .join()
  const owner = db.getExecutor().adapter
  const known = totals.get(owner) ?? new Map<string, { versions: string; total: number }>()
  totals.set(owner, known)
  const counted = known.get(key)
  if (counted?.versions === versions) return counted.total

  const { total } = (await counting.executeTakeFirstOrThrow()) as { total: number }
  if (known.size >= TOTALS_KEPT) known.clear()
  known.set(key, { versions, total: Number(total) })
  return Number(total)
}
