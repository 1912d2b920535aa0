/**
 * Short lists in pages: the records of one user, one project, one commit. An index finds them and there are few, so
 * counting costs next to nothing. Long lists are declared with `lists.ts`.
 */
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Db } from './database.ts'
import { idList, inIdList } from './dialect.ts'

export interface Cut {
  readonly limit: number
  readonly offset: number
}

export interface Page<T> {
  readonly items: T[]
  readonly total: number
  /** There are more than `total`, but they were not counted: then the answer has no total. */
  readonly more?: boolean
}

/** A page of a query that has an order. */
export async function pageOfQuery<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { limit, offset }: Cut,
  count = () => countRows(query),
): Promise<Page<O>> {
  const items = await query.limit(limit).offset(offset).execute()
  // A page that is not full is the last one, so its end is the total.
  const isLast = items.length < limit && (items.length > 0 || offset === 0)
  return { items, total: isLast ? offset + items.length : await count() }
}

export async function countRows<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): Promise<number> {
  const { total } = await query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .$castTo<{ total: number }>()
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** The texts of a page are too large to be read at once. The API reads such a page in parts. */
export class PageTooLarge extends Error {
  override name = 'PageTooLarge'
}

/** The maximum bytes of text that are read at once; only a single text may be larger. */
const MOST_BYTES = 4 * 1024 * 1024

// The database knows the length of a text without reading the text.
const bytesOf = (column: string) => sql<number | null>`octet_length(${sql.ref(column)})`.as('bytes')

/** A page of rows whose `column` is a text of any length. */
export async function pageOfTexts<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: string,
  cut: Cut,
): Promise<Page<O>> {
  await assertSmallTexts(query.limit(cut.limit).offset(cut.offset), column)
  return pageOfQuery(query, cut)
}

/** Call it before the rows of a query are read. */
export async function assertSmallTexts<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: string,
): Promise<void> {
  const lengths = await query.clearSelect().select(bytesOf(column)).$castTo<{ bytes: number | null }>().execute()
  const together = lengths.reduce((sum, { bytes }) => sum + Number(bytes ?? 0), 0)
  if (lengths.length > 1 && together > MOST_BYTES) throw new PageTooLarge()
}

/** The same for rows that are read by their ids. */
export async function assertSmallRows(
  db: Db,
  table: 'issues' | 'merge_requests' | 'notes',
  column: 'body' | 'description',
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const rows = db.selectFrom(table as 'notes').where(inIdList(db, 'id', idList(db, ids)))
  await assertSmallTexts(rows, column)
}

export const pageOfArray = <T>(all: readonly T[], { limit, offset }: Cut): Page<T> => ({
  items: all.slice(offset, offset + limit),
  total: all.length,
})
