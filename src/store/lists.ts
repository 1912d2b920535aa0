/**
 * Long lists in pages: the rows of one page and the total, at the same cost however long the list is. Both queries are
 * compiled once per set of given filters; the total is counted once per change of the tables it depends on.
 */
import type { SelectQueryBuilder } from 'kysely'
import { keptTotal } from './counts.ts'
import type { Db, Tables } from './database.ts'
import { hotQuery, shapeOf, type Given } from './hot.ts'

export interface Cut {
  readonly limit: number
  readonly offset: number
}

let lists = 0

export function hotList<F extends object, TB extends keyof Tables, O>({
  counted,
  matching,
  order,
}: {
  /** Tables that count their changes and decide the total. */
  counted: readonly (keyof Tables)[]
  matching: (db: Db, filter: F, given: Given<F>) => SelectQueryBuilder<Tables, TB, O>
  order: (query: SelectQueryBuilder<Tables, TB, O>, db: Db, given: Given<F>) => SelectQueryBuilder<Tables, TB, O>
}): (db: Db, filter: F, cut: Cut) => Promise<{ items: O[]; total: number }> {
  const name = `list ${++lists}`
  const rows = hotQuery((db, values: F & Cut, given: Given<F & Cut>) =>
    order(matching(db, values, given), db, given)
      .limit(values.limit)
      .offset(values.offset),
  )
  const count = hotQuery((db, values: F, given) =>
    matching(db, values, given)
      .clearSelect()
      .select((eb) => eb.fn.countAll<number>().as('total')),
  )
  return async (db, filter, cut) => {
    const key = `${name} ${shapeOf(filter)} ${JSON.stringify(filter)}`
    const total = await keptTotal(db, counted, key, async () => Number((await count(db, filter))[0]!.total))
    const items = cut.limit > 0 && cut.offset < total ? await rows(db, { ...filter, ...cut }) : []
    return { items, total }
  }
}
