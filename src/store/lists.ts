/**
 * Long lists, at the same cost however long they are. A list of a table is a declaration:
 *
 * - `conditions`, by the value each needs. A condition has a `test`, made on each row while an order is walked, and
 *   where it leaves few rows a `set` of keys to gather them by, sorted afterwards. The total is known first: few rows
 *   are gathered by the first set that is given; many, or most of the table, are walked. A set without a test is
 *   tested by being in it, which is for sets that stay small. `search` walks the substring index itself, for lists in the order of their key.
 * - `always`: what narrows every such list.
 * - `orders`: each needs an index `(…what always narrows, order, key)`. Ties go by the key.
 * - `visible`: what the viewer sees: what is open to them, and what is theirs besides.
 * - `counted`: whose changes can alter a total, for all lists and for each condition.
 *
 * Totals are added up from `<table>_facets` where nothing but facets is asked, else counted once per change
 * (`counts.ts`). Statements are compiled once per set of given values (`hot.ts`), so a value that is absent is no
 * condition, and what only alters another condition is a value too.
 *
 * Issues would be declared so. In a project `always` is `project_id = ?`, and every order's index begins with it.
 * `state` and `confidential` are facets; of visible ones, `open` is `not confidential` and `own` goes by author,
 * assignee or level. `labels` is one list of titles (as `idList` is one of ids): its set gathers links by title, its
 * test counts them. `milestone`, `assignee_id`, `iids` and `my_reaction_emoji` have sets, `created_after` and the like
 * only tests, `search` is `contains()`, and each `not[…]` is a test under a name of its own. Merge requests are the
 * same with other states. Jobs have `scope` as a test and the key as their only order; notes have their issue in
 * `always`. Facets that tell projects apart are many rows: on PostgreSQL they need an index too.
 */
import { sql, type CompiledQuery, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { keptTotal } from './counts.ts'
import type { Db, Row, Tables } from './database.ts'
import { SUBSTRING_FROM, foundId, foundIds, likePattern, substring, unindexed, whereContains } from './dialect.ts'
import { hotQuery, shapeOf, type Given, type HotQuery } from './hot.ts'
import type { Cut, Page } from './pages.ts'

/** What a condition is built with beside the values. */
export interface At<V> {
  readonly db: Db
  readonly given: Given<V>
  /** A column that indexes of orders begin with. Where rows are gathered it must not lead to these. */
  column(name: string): RawBuilder<unknown>
  /** A column with an index of its own, which must not lead away from the order. */
  hidden(name: string): RawBuilder<unknown>
}

type Test<V> = (values: V, at: At<V>) => RawBuilder<boolean>
type Keys<V> = (values: V, at: At<V>) => RawBuilder<number> | undefined

export interface Condition<V> {
  test?: Test<V>
  set?: Keys<V>
  /** Columns of the substring index that are searched for the value. */
  search?: readonly string[]
  /** Whether the test asks nothing but columns of `<table>_facets`. */
  facet?: true
  counted?: readonly string[]
}

/** What needs no membership, by columns of `<table>_facets`, and what the viewer sees besides. */
interface Visible<V> {
  open?: { needs: keyof V; test: Test<V> }
  /** The value is the viewer's id; 0 for visitors, who have nothing. */
  own: { needs: keyof V; test?: Test<V>; set?: Keys<V>; counted: readonly string[] }
  /** Both together. */
  set?: Keys<V>
}

export type Sort = 'asc' | 'desc'

interface ListPlan<V extends object, T extends keyof Tables, O extends string, C extends string> {
  table: T
  /** What is read of a row; all of it, unless the rest is known by other means. */
  columns?: readonly C[]
  /** `id` unless the rows have none: what sets hold and ties go by. */
  key?: string
  /** From how many rows on walking comes to a page's end sooner than gathering; 2000 unless said. */
  many?: number
  /** Whether `<table>_facets` is kept, with every column that `always` and facets ask. */
  facets?: true
  counted: readonly string[]
  always?: (values: V, at: At<V>) => RawBuilder<boolean>[]
  /** Those that leave fewest rows first. */
  conditions?: { [name in keyof V]?: Condition<V> }
  visible?: Visible<V>
  /** Null is the key's own. */
  orders: { [name in O]: ((db: Db, sort: Sort) => RawBuilder<unknown>) | null }
  /** The order where none is asked for. */
  usual: (given: Given<V>) => readonly [O, Sort]
}

/** How a page is found, among its values because a statement depends on it. */
type Way<O extends string> = { [by in `by ${O} ${Sort}`]?: true } & {
  walked?: true | undefined
  /** Without a total to go by, only what narrows the list is gathered, never all that is visible. */
  uncounted?: true
}

interface OrderWish<O> {
  order_by?: O | null | undefined
  sort?: Sort | null | undefined
}

export interface LongList<V extends object, O extends string, R> {
  (db: Db, values: V, cut: Cut, order?: OrderWish<O>): Promise<Page<R>>
  /** The next rows by key, without a total: what pages by key are made of. */
  next(db: Db, values: V, sort: Sort, limit: number): Promise<R[]>
  /** The statement of one page, as in `HotQuery`. */
  page: HotQuery<V & Way<O> & Cut, R>
  compile(db: Db, values: V, cut: Cut): CompiledQuery
}

export function longList<
  V extends object,
  T extends keyof Tables,
  O extends string,
  C extends keyof Row<T> & string = keyof Row<T> & string,
>(plan: ListPlan<V, T, O, C>): LongList<V, O, Pick<Row<T>, C>> {
  const { many = 2000, orders, usual } = plan
  const page = pageOf<V, O, Pick<Row<T>, C>>(plan)
  const count = counter(plan)

  const list = async (db: Db, values: V, { limit, offset }: Cut, { order_by, sort }: OrderWish<O> = {}) => {
    const { total, rows } = await count(db, values)
    if (limit === 0 || offset >= total) return { items: [], total }
    const [order, way] = usual(givenIn(values))
    const walked = total > many || rows <= total * DENSE
    const by = { [`by ${order_by ?? order} ${sort ?? way}`]: true, ...(walked && { walked }) } as Way<O>
    return { items: await page(db, { ...values, ...by, limit, offset }), total }
  }
  const byKey = Object.keys(orders).find((name) => orders[name as O] === null)
  const next = async (db: Db, values: V, sort: Sort, limit: number) => {
    const by = { [`by ${byKey} ${sort}`]: true, uncounted: true } as Way<O>
    return page(db, { ...values, ...by, limit, offset: 0 })
  }
  const compile = (db: Db, values: V, cut: Cut) => page.compile(db, { ...values, ...cut } as V & Way<O> & Cut)
  return Object.assign(list, { next, page, compile })
}

type AnyPlan<V extends object> = ListPlan<V, keyof Tables, string, string>
// oxlint-disable-next-line no-explicit-any -- the table is a type parameter, which the builder cannot follow
type Query<R> = SelectQueryBuilder<any, any, R>

const givenIn =
  <V extends object>(values: V): Given<V> =>
  (name) =>
    (values[name] ?? null) !== null

const askedOf = <V extends object>({ conditions = {} }: AnyPlan<V>, given: Given<V>) =>
  (Object.entries(conditions) as [keyof V, Condition<V>][]).filter(([name]) => given(name))

const rowsOf = (db: Db, table: keyof Tables) => db.selectFrom(table as 'users') as unknown as Query<object>
const selectedOf = (db: Db, { table, columns }: Pick<AnyPlan<object>, 'table' | 'columns'>) =>
  columns ? rowsOf(db, table).select(columns.map((name) => `${table}.${name}`)) : rowsOf(db, table).selectAll(table)
const total = sql<number>`count(*)`.as('total')
const totalIn = (rows: readonly { total: number }[]) => Number(rows[0]!.total)

const keyOf = ({ table, key = 'id' }: Pick<AnyPlan<object>, 'table' | 'key'>) => sql.ref(`${table}.${key}`)
const and = (tests: RawBuilder<boolean>[]) => sql<boolean>`(${sql.join(tests, sql`) and (`)})`
const where = <R>(query: Query<R>, tests: RawBuilder<boolean>[]) =>
  tests.length === 0 ? query : query.where(and(tests))

function at<V>(db: Db, table: string, given: Given<V>, way: { ordered: boolean }): At<V> {
  const hidden = (name: string) => unindexed(db, `${table}.${name}`)
  return { db, given, hidden, column: way.ordered ? (name) => sql.ref(`${table}.${name}`) : hidden }
}

function isWithin<V extends object>(plan: AnyPlan<V>, { set }: Condition<V>, values: V, at: At<V>) {
  return sql<boolean>`${keyOf(plan)} in (${set!(values, at)})`
}

const passes = <V extends object>(plan: AnyPlan<V>, one: Condition<V>, values: V, at: At<V>) =>
  one.test ? one.test(values, at) : isWithin(plan, one, values, at)

function visibleIn<V extends object>(plan: AnyPlan<V>, given: Given<V>): Condition<V>[] {
  if (!plan.visible) return []
  const { open, own, set } = plan.visible
  if (!open || !given(open.needs)) return given(own.needs) ? [own] : []
  if (!given(own.needs)) return [open]
  const test: Test<V> = (values, at) => sql`(${open.test(values, at)}) or (${passes(plan, own, values, at)})`
  return [{ test, ...(set && { set }) }]
}

/** One set is gathered, all else is tested: two sets at once are more work than one and a test. */
function narrow<V extends object, R>(
  plan: AnyPlan<V>,
  from: Query<R>,
  values: V,
  { db, given, way }: { db: Db; given: Given<V>; way: 'gathered' | 'walked' | 'uncounted' },
): Query<R> {
  const { table, always } = plan
  const asked = askedOf(plan, given)
  const searched = asked.find(([, { search }]) => search)
  const conditions = asked.filter(([, { search }]) => !search).map(([, one]) => one)
  const visible = visibleIn(plan, given)
  const first = (some: Condition<V>[]) => some.find(({ set }) => set?.(values, at(db, table, given, { ordered: true })))
  const gathered =
    way === 'walked' || searched ? undefined : first(way === 'uncounted' ? conditions : [...conditions, ...visible])

  const here = at(db, table, given, { ordered: !gathered && !searched })
  const tests = [...conditions, ...visible].map((one) =>
    one === gathered ? isWithin(plan, one, values, here) : passes(plan, one, values, here),
  )
  const query = searched ? whereContains(db, from, table, searched[1].search!, values[searched[0]] as string) : from
  return where(query, [...(always?.(values, here) ?? []), ...tests])
}

const pageOf = <V extends object, O extends string, R>(plan: AnyPlan<V>): HotQuery<V & Way<O> & Cut, R> =>
  hotQuery((db, values, isGiven) => {
    const given = isGiven as Given<V & Record<string, unknown>>
    const way = given('walked') ? 'walked' : given('uncounted') ? 'uncounted' : 'gathered'
    const orders = Object.keys(plan.orders).flatMap((name) => [[name, 'asc'] as const, [name, 'desc'] as const])
    const [order, sort] = orders.find(([name, sort]) => given(`by ${name} ${sort}`)) ?? plan.usual(given)
    const by = plan.orders[order] ?? null
    const isSearched = askedOf(plan, given).some(([, { search }]) => search)
    return narrow(plan, selectedOf(db, plan), values, { db, given, way })
      .$if(by !== null, (query) => query.orderBy(by!(db, sort), sort))
      .orderBy(isSearched ? foundId(db, plan.table) : keyOf(plan), sort)
      .limit(values.limit)
      .offset(values.offset) as unknown as Query<R>
  })

/** Where at least one row in so many is wanted, a page's end is near wherever the order begins. */
const DENSE = 4

interface Counted {
  readonly total: number
  /** That the order would be walked over, where it is known. */
  readonly rows: number
}

const facetTests = <V extends object>(plan: AnyPlan<V>, values: V, at: At<V>) => [
  ...(plan.always?.(values, at) ?? []),
  ...askedOf(plan, at.given).map(([, { test }]) => test!(values, at)),
]

const isOpen = <V extends object>({ visible }: AnyPlan<V>, given: Given<V>) =>
  visible?.open !== undefined && given(visible.open.needs)

/** Adds up facets, of everything or of what is open to the viewer: the same tests on fewer rows that weigh more. */
const sumOf = <V extends object>(plan: AnyPlan<V>) =>
  hotQuery<V, Counted>((db, values, given) => {
    const here = at(db, plan.table, given, { ordered: true })
    const tests = askedOf(plan, given).map(([, { test }]) => test!(values, here))
    if (isOpen(plan, given)) tests.push(plan.visible!.open!.test(values, here))
    const facets = db.selectFrom(sql.table(`${plan.table}_facets`).as(plan.table) as never) as unknown as Query<object>
    const wanted = tests.length === 0 ? sql`total` : sql`case when ${and(tests)} then total else 0 end`
    const sums = [
      sql<number>`coalesce(sum(${wanted}), 0)`.as('total'),
      sql<number>`coalesce(sum(total), 0)`.as('rows'),
    ] as const
    return where(facets.select(sums), plan.always?.(values, here) ?? [])
  })

/** What the viewer has beside what is open to them. */
const countOwn = <V extends object>(plan: AnyPlan<V>) =>
  hotQuery<V, { total: number }>((db, values, given) => {
    const here = at(db, plan.table, given, { ordered: false })
    const { open, own } = plan.visible!
    const mine = own.set ? isWithin(plan, own, values, here) : own.test!(values, here)
    const tests = [...facetTests(plan, values, here), mine, sql<boolean>`not (${open!.test(values, here)})`]
    return where(rowsOf(db, plan.table).select(total), tests)
  })

let lists = 0

function counter<V extends object>(plan: AnyPlan<V>): (db: Db, values: V) => Promise<Counted> {
  const name = `list ${++lists} of ${plan.table}`
  const { visible } = plan
  const [sum, own] = [sumOf(plan), countOwn(plan)]
  const all = hotQuery<V, { total: number }>((db, values, given) =>
    narrow(plan, rowsOf(db, plan.table).select(total), values, { db, given, way: 'gathered' }),
  )

  /** What counting depends on follows from which values are given. */
  const byShape = new Map<string, { byFacets: boolean; subjects: string[] }>()
  const decide = (values: V) => {
    const given = givenIn(values)
    const asked = askedOf(plan, given).map(([, one]) => one)
    const viewed = visible && given(visible.own.needs) ? [visible.own] : []
    const byFacets =
      plan.facets === true && asked.every(({ facet }) => facet) && (isOpen(plan, given) || viewed.length === 0)
    return { byFacets, subjects: [plan, ...asked, ...viewed].flatMap(({ counted = [] }) => counted) }
  }

  return async (db, values) => {
    const shape = shapeOf(values)
    let decision = byShape.get(shape)
    if (!decision) byShape.set(shape, (decision = decide(values)))
    const { byFacets, subjects } = decision
    const kept = (what: string, count: typeof all) =>
      keptTotal(db, subjects, `${name} ${what} ${JSON.stringify(values)}`, async () => totalIn(await count(db, values)))
    if (!byFacets) return { total: await kept('all', all), rows: Infinity }
    const [open] = await sum(db, values)
    const total = Number(open!.total) + (visible && values[visible.own.needs] ? await kept('own', own) : 0)
    return { total, rows: Number(open!.rows) }
  }
}

/** A text to be found anywhere in some columns, as values of a list. */
export interface Search {
  like?: string
  /** The same for the index, which short texts have no use of. */
  substring?: string
}

export function searchFor(db: Db, text: string | null | undefined): Search {
  const wanted = text?.trim() ?? ''
  return {
    ...(wanted !== '' && { like: likePattern(wanted) }),
    ...(Array.from(wanted).length >= SUBSTRING_FROM && { substring: substring(db, wanted) }),
  }
}

/** The condition on `like`, for tables with a substring index over these columns. */
export const contains = (table: keyof Tables, columns: readonly string[]): Condition<Search> => ({
  // The engine folds both sides: it and JavaScript differ on letters beyond ASCII.
  test: ({ like }) => {
    const matches = columns.map((name) => sql`lower(${sql.ref(`${table}.${name}`)}) like lower(${like}) escape '\\'`)
    return sql`(${sql.join(matches, sql` or `)})`
  },
  set: (values, { db, given }) => (given('substring') ? foundIds(db, table, columns, values.substring!) : undefined),
})
