/**
 * Long lists in pages: the rows of one page and the total, at the same cost however long the list is. Queries are
 * compiled once per set of given filters; the total comes from the table's facets where they decide it, else it is
 * counted once per change.
 */
import { sql, type CompiledQuery, type SelectQueryBuilder } from 'kysely'
import { keptTotal } from './counts.ts'
import type { Db, Row, Tables } from './database.ts'
import { hotQuery, shapeOf, type Given } from './hot.ts'
import type { Cut, Page } from './pages.ts'

// oxlint-disable-next-line no-empty-object-type
type Query<T extends keyof Tables, O = {}> = SelectQueryBuilder<Tables, T, O>

interface ListPlan<F extends object, T extends keyof Tables> {
  table: T
  /** Whose changes can alter a counted total. */
  counted: readonly string[]
  /** Filters on nothing but columns of `<table>_facets`. */
  facets?: readonly (keyof F)[]
  narrow<O>(query: Query<T, O>, filter: F, given: Given<F>, db: Db): Query<T, O>
  order<O>(query: Query<T, O>, given: Given<F>, db: Db): Query<T, O>
}

export interface HotList<F, T extends keyof Tables> {
  (db: Db, filter: F, cut: Cut): Promise<Page<Row<T>>>
  /** The statement of one page, as in `HotQuery`. */
  compile(db: Db, filter: F, cut: Cut): CompiledQuery
}

let lists = 0

export function hotList<F extends object, T extends keyof Tables>(plan: ListPlan<F, T>): HotList<F, T> {
  const { table, counted, facets, narrow, order } = plan
  const name = `list ${++lists} of ${table}`
  const rows = hotQuery((db, values: F & Cut, given: Given<F & Cut>) => {
    const all = db.selectFrom(table as 'users').selectAll(table as 'users') as unknown as Query<T, Row<T>>
    return order(narrow(all, values, given, db), given, db)
      .limit(values.limit)
      .offset(values.offset)
  })
  const count = hotQuery((db, values: F, given) => {
    const all = db.selectFrom(table as 'users').select(sql<number>`count(*)`.as('total'))
    return narrow(all as unknown as Query<T, { total: number }>, values, given, db)
  })
  // The conditions are the same, on the same names: only the rows are fewer and weigh more.
  const sum = hotQuery((db, values: F, given) => {
    const all = db
      .selectFrom(sql.raw(`${table}_facets`).as(table as 'users') as never)
      .select(sql<number>`coalesce(sum(total), 0)`.as('total'))
    return narrow(all as unknown as Query<T, { total: number }>, values, given, db)
  })
  const decidedByFacets = (filter: F) =>
    facets !== undefined &&
    (Object.keys(filter) as (keyof F)[]).every((name) => facets.includes(name) || (filter[name] ?? null) === null)

  const list = async (db: Db, filter: F, cut: Cut) => {
    const key = () => `${name} ${shapeOf(filter)} ${JSON.stringify(filter)}`
    const total = decidedByFacets(filter)
      ? Number((await sum(db, filter))[0]!.total)
      : await keptTotal(db, counted, key(), async () => Number((await count(db, filter))[0]!.total))
    const items = cut.limit > 0 && cut.offset < total ? await rows(db, { ...filter, ...cut }) : []
    return { items: items as unknown as Row<T>[], total }
  }
  return Object.assign(list, { compile: (db: Db, filter: F, cut: Cut) => rows.compile(db, { ...filter, ...cut }) })
}
