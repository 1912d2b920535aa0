import { sql } from 'kysely'
import type { App } from '../context.ts'
import type { Tables } from '../store/database.ts'

const AT_ONCE = 500

/** Ids of rows with something in `column` that was sealed with another key than ours, some at a time. */
export async function* unreadableRows<T extends keyof Tables>(
  { db, vault }: App,
  table: T,
  column: keyof Tables[T] & string,
): AsyncGenerator<number[]> {
  for (let last = 0; ;) {
    const { rows } = await sql<{ id: number; sealed: string }>`
      select id, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where id > ${last} and ${sql.ref(column)} is not null order by id limit ${AT_ONCE}`.execute(db)
    if (rows.length === 0) return
    last = rows.at(-1)!.id
    yield rows.filter(({ sealed }) => !vault.canOpen(sealed)).map(({ id }) => id)
  }
}
