/**
 * Short lists in pages: the records of one person, one project, one commit. An index leads to them and there are few,
 * so counting them costs next to nothing. Long lists are declared with `lists.ts`.
 */
import type { SelectQueryBuilder } from 'kysely'

export interface Cut {
  readonly limit: number
  readonly offset: number
}

export interface Page<T> {
  readonly items: T[]
  readonly total: number
  /** Whether there are more than `total`, which nobody counted: then nobody is told it. */
  readonly more?: boolean
}

/** A page of a query that says its order. */
export async function pageOfQuery<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { limit, offset }: Cut,
  count = () => countRows(query),
): Promise<Page<O>> {
  const items = await query.limit(limit).offset(offset).execute()
  // A page that is not full is the last one: its end is the total.
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

export const pageOfArray = <T>(all: readonly T[], { limit, offset }: Cut): Page<T> => ({
  items: all.slice(offset, offset + limit),
  total: all.length,
})
