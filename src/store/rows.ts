import type { Db, Row, Tables } from './database.ts'
import { idList, inIdList } from './dialect.ts'

type TableWithId = { [T in keyof Tables]: Row<T> extends { readonly id: number } ? T : never }[keyof Tables]

/** Rows of a table by their ids, with one query. Nulls and ids without a row are not in the map. */
export async function rowsById<T extends TableWithId, Id extends number | null>(
  db: Db,
  table: T,
  ids: readonly Id[],
): Promise<Map<Id, Row<T>>> {
  const unique = [...new Set(ids)].filter((id) => id !== null)
  if (unique.length === 0) return new Map()
  const rows = await db
    .selectFrom(table as 'users') // any table with an id
    .selectAll()
    .where(inIdList(db, 'id', idList(db, unique)))
    .execute()
  return new Map(rows.map((row) => [row.id as Id, row as unknown as Row<T>]))
}
