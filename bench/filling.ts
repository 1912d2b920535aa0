/** A store filled with rows that the database generates. */
import { sql, type RawBuilder } from 'kysely'
import { putTogether } from '../src/store/counts.ts'
import type { Db } from '../src/store/database.ts'
import { mergeTextIndexes } from '../src/store/full-text.ts'
import { migrate } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { numbers } from './seed-tree.ts'

export async function fillStore(url: string, fill: (db: Db) => Promise<void>): Promise<void> {
  const store = await openStore(url, { durable: false, shared: true, poolSize: 1 })
  try {
    await migrate(store)
    await store.db.transaction().execute(fill)
    // As a server does once an hour.
    await mergeTextIndexes(store.db)
    if (store.engine === 'postgres') {
      // Counts with one row per inserted row would be read for ever: nothing vacuums a temporary server.
      await putTogether(store.db)
      await sql`vacuum analyze`.execute(store.db)
    }
  } finally {
    await store.close()
  }
}

export const lit = (value: number | string) => sql.lit(value)

/** Inserts `rows` rows; `n` is the number of each. */
export const addRows = (db: Db, table: string, rows: number, values: Record<string, RawBuilder<unknown>>) =>
  sql`insert into ${sql.table(table)} (${sql.raw(Object.keys(values).join(', '))})
    select ${sql.join(Object.values(values))} from ${numbers(rows)}`.execute(db)
