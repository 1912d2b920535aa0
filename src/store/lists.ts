/**
 * Long lists, at a cost that does not grow with their length. A list of a table is a declaration:
 *
 * - `conditions`, by the value each needs. A condition has a `test`, evaluated on each row while an order is scanned.
 *   If it leaves few rows, it also has a `set` of keys to gather the rows by, which are then sorted. The total is
 *   computed first: few rows are gathered by the first given set; many rows, or most of the table, are scanned. A set
 *   without a test is tested by membership, which is for sets that stay small. `search` scans the substring index
 *   itself, for lists in the order of their key.
 * - `always`: conditions of every such list.
 * - `orders`: each needs an index `(…columns of always, order, key)`. The key breaks ties.
 * - `visible`: the rows that the viewer sees: open rows, and rows of their own.
 * - `counted`: the subjects whose changes can alter a total, for all lists and for each condition; `scoped` subjects
 *   count only if they belong to the list's scope or to none.
 * - `followed`: the table has a log of its changes, so that totals follow the changed rows instead of being recounted.
 *
 * Totals are added up from `<table>_facets` if all conditions are facets. Otherwise they are counted once per change
 * (`counts.ts`). Statements are compiled once per set of given values (`hot.ts`). So an absent value adds no condition,
 * and an option that only modifies another condition is a value too.
 *
 * Example: issues. In a project `always` is `project_id = ?`, and every order's index begins with it. `state` and
 * `confidential` are facets; in `visible`, `open` is `not confidential` and `own` goes by author, assignee or level.
 * `labels` is one list of titles (as `idList` is one of ids): its set gathers links by title, its test counts them.
 * `milestone`, `assignee_id`, `iids` and `my_reaction_emoji` have sets, `created_after` and the like only tests,
 * `search` is `contains()`, and each `not[…]` is a test under its own name. Merge requests are the same with other
 * states. Jobs have `scope` as a test and the key as their only order; notes have their issue in `always`. Facets per
 * project are many rows: on PostgreSQL they need an index too.
 */
import { sql, type CompiledQuery, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import {
  changeLog,
  cachedTotal,
  noticeLoose,
  scopedSubject,
  versionColumns,
  type Follow,
  type Version,
} from './counts.ts'
import type { Db, Row, Tables } from './database.ts'
import {
  SUBSTRING_FROM,
  matchingId,
  matchingIds,
  idList,
  inIdList,
  isSqlite,
  likePattern,
  substring,
  unindexed,
  whereContains,
} from './dialect.ts'
import { hotQuery, shapeOf, type IsGiven, type HotQuery } from './hot.ts'
import type { Cut, Page } from './pages.ts'

/** What a condition is built with, in addition to the values. */
export interface At<V> {
  readonly db: Db
  readonly given: IsGiven<V>
  /** The order that is scanned, if any. */
  readonly order: string | undefined
  /**
   * A column that the indexes of orders begin with. When rows are gathered, it is hidden from the planner, so that it
   * does not choose these indexes.
   */
  column(name: string): RawBuilder<unknown>
  /** A column with its own index, hidden from the planner so that it keeps scanning the order. */
  hidden(name: string): RawBuilder<unknown>
}

/** A column whose index is used, unless another order is scanned: then it is hidden from the planner. */
export const leading = (
  { column, hidden, order }: Pick<At<unknown>, 'column' | 'hidden' | 'order'>,
  name: string,
  itsOrder = name,
): RawBuilder<unknown> => (order === undefined || order === itsOrder ? column : hidden)(name)

type Test<V> = (values: V, at: At<V>) => RawBuilder<boolean>
type Keys<V> = (values: V, at: At<V>) => RawBuilder<number> | undefined

export interface Condition<V> {
  test?: Test<V>
  set?: Keys<V>
  /** Columns of the substring index that are searched for the value. */
  search?: readonly string[]
  /** Whether the test uses only columns of `<table>_facets`. */
  facet?: true
  /**
   * Orders that an index which begins with the condition's own column provides. With these, rows are never gathered,
   * however many match.
   */
  leads?: readonly string[]
  /**
   * The same by a link table, as `led`. It has the rows' `key`, and for each order a column of its own with an index.
   */
  links?: { table: string; key: string; test: Test<V>; orders: Readonly<Record<string, string>> }
  counted?: readonly string[]
  scoped?: readonly string[]
}

/**
 * The rows visible without a membership, by columns of `<table>_facets`, and the rows visible to the viewer in
 * addition.
 */
export interface Visible<V> {
  open?: { needs: keyof V; test: Test<V> }
  /** The value is the viewer's id; 0 for visitors, who own nothing. */
  own: { needs: keyof V; test?: Test<V>; set?: Keys<V>; counted: readonly string[] }
  /** Both combined. */
  set?: Keys<V>
}

export type Sort = 'asc' | 'desc'

interface ListPlan<V extends object, T extends keyof Tables, O extends string, C extends string> {
  table: T
  /** The columns to read; all of them by default. */
  columns?: readonly C[]
  /** The key of the rows, which sets contain and which breaks ties; `id` by default. */
  key?: string
  /** From how many rows on a scan reaches the end of a page sooner than gathering; 2000 by default. */
  many?: number
  /** Whether `<table>_facets` exists, with every column that `always` and the facet conditions use. */
  facets?: true
  counted: readonly string[]
  /** The table has a log of its changes: of the scope that this value names, or of all rows. */
  followed?: { scope?: keyof V }
  always?: (values: V, at: At<V>) => RawBuilder<boolean>[]
  /** Most selective conditions first. */
  conditions?: { [name in keyof V]?: Condition<V> }
  visible?: Visible<V>
  /** Null: the order of the key itself. */
  orders: { [name in O]: ((db: Db, sort: Sort) => RawBuilder<unknown>) | null }
  /** The default order. */
  usual: (given: IsGiven<V>) => readonly [O, Sort]
}

/** How a page is found. It is part of the values, because the statement depends on it. */
type Way<O extends string> = { [by in `by ${O} ${Sort}`]?: true } & {
  walked?: true | undefined
  /** Without a total, only conditions gather rows, never the whole visible set. */
  uncounted?: true
}

export interface OrderInput<O> {
  order_by?: O | null | undefined
  sort?: Sort | null | undefined
}

export interface LongList<V extends object, O extends string, R> {
  (db: Db, values: V, cut: Cut, order?: OrderInput<O>): Promise<Page<R>>
  /** The next rows by key, without a total, for keyset pagination. */
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

  const list = async (db: Db, values: V, { limit, offset }: Cut, { order_by, sort }: OrderInput<O> = {}) => {
    const { total, rows } = await count(db, values)
    if (limit === 0 || offset >= total) return { items: [], total }
    const [order, way] = usual(givenIn(values))
    const walked = total > many || rows <= total * DENSE || (offset + limit) * rows < total * total
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
  <V extends object>(values: V): IsGiven<V> =>
  (name) =>
    (values[name] ?? null) !== null

const givenConditions = <V extends object>({ conditions = {} }: AnyPlan<V>, given: IsGiven<V>) =>
  (Object.entries(conditions) as [keyof V, Condition<V>][]).filter(([name]) => given(name))

const rowsOf = (db: Db, table: keyof Tables) => db.selectFrom(table as 'users') as unknown as Query<object>

function selectedOf<V extends object>(
  db: Db,
  plan: AnyPlan<V>,
  links: Condition<V>['links'],
  set?: RawBuilder<number>,
): Query<object> {
  const { table, columns } = plan
  const rows = set
    ? oneByOne(db, plan, set)
    : links
      ? (db
          .selectFrom(`${links.table} as led` as 'users')
          .innerJoin(
            table as 'users',
            sql.ref(`led.${links.key}`) as never,
            keyOf(plan) as never,
          ) as unknown as Query<object>)
      : rowsOf(db, table)
  return columns ? rows.select(columns.map((name) => `${table}.${name}`)) : rows.selectAll(table)
}

/** The rows of a set, each looked up by its key. */
const oneByOne = (db: Db, plan: Pick<AnyPlan<object>, 'table' | 'key'>, set: RawBuilder<number>) =>
  db.selectFrom(
    sql`(select distinct id from (${set}) as gathered(id)) as gathered
      cross join lateral (select * from ${sql.table(plan.table)} where ${keyOf(plan)} = gathered.id offset 0)`.as(
      plan.table,
    ) as never,
  ) as unknown as Query<object>

/** The condition whose own index provides the order. */
const leaderOf = <V>(conditions: readonly Condition<V>[], order: string | undefined) =>
  order === undefined
    ? undefined
    : conditions.find(({ leads, links }) => leads?.includes(order) || links?.orders[order] !== undefined)
const total = sql<number>`count(*)`.as('total')

const keyOf = ({ table, key = 'id' }: Pick<AnyPlan<object>, 'table' | 'key'>) => sql.ref(`${table}.${key}`)
const and = (tests: RawBuilder<boolean>[]) => sql<boolean>`(${sql.join(tests, sql`) and (`)})`
const where = <R>(query: Query<R>, tests: RawBuilder<boolean>[]) =>
  tests.length === 0 ? query : query.where(and(tests))

function at<V>(db: Db, table: string, given: IsGiven<V>, way: { ordered: boolean; order?: string | undefined }): At<V> {
  const hidden = (name: string) => unindexed(db, `${table}.${name}`)
  const column = way.ordered ? (name: string) => sql.ref(`${table}.${name}`) : hidden
  return { db, given, order: way.order, hidden, column }
}

function isWithin<V extends object>(plan: AnyPlan<V>, { set }: Condition<V>, values: V, at: At<V>) {
  return sql<boolean>`${keyOf(plan)} in (${set!(values, at)})`
}

const passes = <V extends object>(plan: AnyPlan<V>, one: Condition<V>, values: V, at: At<V>) =>
  one.test ? one.test(values, at) : isWithin(plan, one, values, at)

function visibleIn<V extends object>(plan: AnyPlan<V>, given: IsGiven<V>): Condition<V>[] {
  if (!plan.visible) return []
  const { open, own, set } = plan.visible
  if (!open || !given(open.needs)) return given(own.needs) ? [own] : []
  if (!given(own.needs)) return [open]
  const test: Test<V> = (values, at) => sql`(${open.test(values, at)}) or (${passes(plan, own, values, at)})`
  return [{ test, ...(set && { set }) }]
}

/** One set gathers rows, all other conditions are tests: two sets cost more than one set and a test. */
function narrow<V extends object, R>(
  plan: AnyPlan<V>,
  from: Query<R>,
  values: V,
  {
    db,
    given,
    way,
    order,
    gather,
  }: {
    db: Db
    given: IsGiven<V>
    way: 'gathered' | 'walked' | 'uncounted' | 'known'
    order?: string
    /** The rows of a set with few rows. */
    gather?: ((set: RawBuilder<number>) => Query<R>) | undefined
  },
): Query<R> {
  const { table, always } = plan
  const entries = givenConditions(plan, given)
  const searched = entries.find(([, { search }]) => search)
  const conditions = entries.filter(([, { search }]) => !search).map(([, one]) => one)
  const visible = visibleIn(plan, given)
  const first = (some: Condition<V>[]) => some.find(({ set }) => set?.(values, at(db, table, given, { ordered: true })))
  const leader = leaderOf(conditions, order)
  const gathered =
    way === 'walked' || way === 'known' || searched || leader
      ? undefined
      : first(way === 'uncounted' ? conditions : [...conditions, ...visible])

  const isOrdered = !gathered && !searched && way !== 'known'
  const led = at(db, table, given, { ordered: isOrdered, order })
  const here = leader ? at(db, table, given, { ordered: false, order }) : led
  const tests = [...conditions, ...visible].map((one) => {
    if (one === gathered) return gather ? sql<boolean>`true` : isWithin(plan, one, values, here)
    if (one !== leader) return passes(plan, one, values, here)
    return one.links ? one.links.test(values, led) : passes(plan, one, values, led)
  })
  const rows = gathered && gather ? gather(gathered.set!(values, here)!) : from
  const query = searched ? whereContains(db, rows, table, searched[1].search!, values[searched[0]] as string) : rows
  return where(query, [...(always?.(values, here) ?? []), ...tests])
}

const pageOf = <V extends object, O extends string, R>(plan: AnyPlan<V>): HotQuery<V & Way<O> & Cut, R> =>
  hotQuery((db, values, isGiven) => {
    const given = isGiven as IsGiven<V & Record<string, unknown>>
    const way = given('walked') ? 'walked' : given('uncounted') ? 'uncounted' : 'gathered'
    const orders = Object.keys(plan.orders).flatMap((name) => [[name, 'asc'] as const, [name, 'desc'] as const])
    const [order, sort] = orders.find(([name, sort]) => given(`by ${name} ${sort}`)) ?? plan.usual(given)
    const conditions = givenConditions(plan, given).map(([, one]) => one)
    const isSearched = conditions.some(({ search }) => search)
    const links = leaderOf(conditions, order)?.links
    const own = plan.orders[order] ?? null
    const by = links ? sql.ref(`led.${links.orders[order]}`) : (own?.(db, sort) ?? null)
    const key = links ? sql.ref(`led.${links.key}`) : isSearched ? matchingId(db, plan.table) : keyOf(plan)
    // PostgreSQL does not know that the set is small, and would read the whole order as well.
    const isForced = way === 'gathered' && !isSqlite(db)
    const gather = isForced ? (set: RawBuilder<number>) => selectedOf(db, plan, undefined, set) : undefined
    return narrow(plan, selectedOf(db, plan, links), values, { db, given, way, order, gather })
      .$if(by !== null, (query) => query.orderBy(by!, sort))
      .orderBy(key, sort)
      .limit(values.limit)
      .offset(values.offset) as unknown as Query<R>
  })

/** If at least one row in so many matches, a scan fills a page soon, wherever it starts. */
const DENSE = 4

/** The number of rows that a scan reads: the rows of the scope, or else about as many as the last key says. */
const rowsOfScope = <V extends object>(plan: AnyPlan<V>) => {
  const ofScope = hotQuery<V, { rows: number }>((db, values, given) => {
    const here = at(db, plan.table, given, { ordered: true })
    const rows = sql<number>`coalesce(sum(total), 0)`.as('rows')
    return where(facetsOf(db, plan).select(rows), plan.always?.(values, here) ?? [])
  })
  const ofAll = hotQuery<object, { rows: number }>((db) =>
    rowsOf(db, plan.table).select(sql<number>`coalesce(max(${keyOf(plan)}), 0)`.as('rows')),
  )
  return async (db: Db, values: V, isScoped: boolean): Promise<number> => {
    if (!plan.followed || !plan.facets) return Infinity
    const [found] = await (isScoped ? ofScope(db, values) : ofAll(db, {}))
    return Number(found!.rows)
  }
}

const facetsOf = (db: Db, { table }: Pick<AnyPlan<object>, 'table'>) =>
  db.selectFrom(sql.table(`${table}_facets`).as(table) as never) as unknown as Query<object>

interface Counted {
  readonly total: number
  /** The number of rows that a scan would read, if known. */
  readonly rows: number
}

const facetTests = <V extends object>(plan: AnyPlan<V>, values: V, at: At<V>) => [
  ...(plan.always?.(values, at) ?? []),
  ...givenConditions(plan, at.given).map(([, { test }]) => test!(values, at)),
]

const isOpen = <V extends object>({ visible }: AnyPlan<V>, given: IsGiven<V>) =>
  visible?.open !== undefined && given(visible.open.needs)

/** The subjects whose changes alter the total of this list. */
function subjectsOf<V extends object>(plan: AnyPlan<V>, given: IsGiven<V>): string[] {
  const conditions = givenConditions(plan, given).map(([, one]) => one)
  const viewed = plan.visible && given(plan.visible.own.needs) ? [plan.visible.own] : []
  return [plan, ...conditions, ...viewed].flatMap(({ counted = [] }) => counted)
}

/**
 * Adds up facets, of all rows or of the rows open to the viewer: the same tests on fewer rows, each with a count. The
 * viewer's own rows are cached by the version that is read in the same query.
 */
const sumOf = <V extends object>(plan: AnyPlan<V>) =>
  hotQuery<V, Counted & { loose: number } & Version>((db, values, given) => {
    const here = at(db, plan.table, given, { ordered: true })
    const tests = givenConditions(plan, given).map(([, { test }]) => test!(values, here))
    if (isOpen(plan, given)) tests.push(plan.visible!.open!.test(values, here))
    const matching = tests.length === 0 ? sql`total` : sql`case when ${and(tests)} then total else 0 end`
    const sums = [
      sql<number>`coalesce(sum(${matching}), 0)`.as('total'),
      sql<number>`coalesce(sum(total), 0)`.as('rows'),
      sql<number>`count(*)`.as('loose'),
      ...(plan.visible ? versionColumns(subjectsOf(plan, given)) : []),
    ]
    return where(facetsOf(db, plan).select(sums), plan.always?.(values, here) ?? [])
  })

/** The counted rows, of all rows or of the given keys: basis of counts and of lists of keys. */
type Rows<V> = <R>(from: Query<R>, values: V, at: { db: Db; given: IsGiven<V>; known: boolean }) => Query<R>

/** Rows that only this viewer can see, in addition to the open ones. */
const ownRows =
  <V extends object>(plan: AnyPlan<V>): Rows<V> =>
  (from, values, { db, given, known }) => {
    const here = at(db, plan.table, given, { ordered: false })
    const { open, own } = plan.visible!
    const mine = own.set && !known ? isWithin(plan, own, values, here) : passes(plan, own, values, here)
    return where(from, [...facetTests(plan, values, here), mine, sql`not (${open!.test(values, here)})`])
  }

const allRows =
  <V extends object>(plan: AnyPlan<V>): Rows<V> =>
  (from, values, { db, given, known }) =>
    narrow(plan, from, values, { db, given, way: known ? 'known' : 'gathered' })

interface Counting<V> {
  count(db: Db, values: V): Promise<number>
  ids(db: Db, values: V, among?: readonly number[]): Promise<number[]>
}

function countingOf<V extends object>(plan: AnyPlan<V>, rows: Rows<V>): Counting<V> {
  const count = hotQuery<V, { total: number }>((db, values, given) =>
    rows(rowsOf(db, plan.table).select(total), values, { db, given, known: false }),
  )
  const key = sql<number>`${keyOf(plan)}`.as('id')
  const ids = hotQuery<V & { among?: string }, { id: number }>((db, values, given) => {
    const known = given('among')
    const from = rowsOf(db, plan.table).select(key)
    const some = known ? from.where(inIdList(db, `${plan.table}.${plan.key ?? 'id'}`, values.among!)) : from
    return rows(some, values, { db, given, known })
  })
  return {
    count: async (db, values) => Number((await count(db, values))[0]!.total),
    ids: async (db, values, among) => {
      const found = await ids(db, among ? { ...values, among: idList(db, among) } : values)
      return found.map(({ id }) => id)
    },
  }
}

let lists = 0

function counter<V extends object>(plan: AnyPlan<V>): (db: Db, values: V) => Promise<Counted> {
  const name = `list ${++lists} of ${plan.table}`
  const { visible, followed } = plan
  const [sum, rowsIn] = [sumOf(plan), rowsOfScope(plan)]
  const [all, own] = [countingOf(plan, allRows(plan)), countingOf(plan, ownRows(plan))]
  const log = followed && changeLog(plan.table)

  /** How to count follows from the set of given values. */
  const byShape = new Map<string, { byFacets: boolean; subjects: string[]; scoped: string[] }>()
  const decide = (values: V) => {
    const given = givenIn(values)
    const conditions = givenConditions(plan, given).map(([, one]) => one)
    const viewed: Condition<V>[] = visible && given(visible.own.needs) ? [visible.own] : []
    const byFacets =
      plan.facets === true && conditions.every(({ facet }) => facet) && (isOpen(plan, given) || viewed.length === 0)
    const scoped = conditions.flatMap(({ scoped = [] }) => scoped)
    return { byFacets, subjects: subjectsOf(plan, given), scoped }
  }

  return async (db, values) => {
    const shape = shapeOf(values)
    let decision = byShape.get(shape)
    if (!decision) byShape.set(shape, (decision = decide(values)))
    const { byFacets, subjects, scoped } = decision
    const scope = followed?.scope && (values[followed.scope] as number | undefined)
    const here = scope === undefined ? scoped : scoped.flatMap((one) => [scope, 0].map((id) => scopedSubject(one, id)))
    const kept = (what: string, { count, ids }: Counting<V>, version?: Version) => {
      const follow: Follow | undefined = log && { log, scope, ids: (among) => ids(db, values, among) }
      const key = `${name} ${what} ${JSON.stringify(values)}`
      // Facets have no scope.
      return cachedTotal(db, version ?? [...subjects, ...here], key, () => count(db, values), follow)
    }
    if (!byFacets) {
      const [total, rows] = await Promise.all([kept('all', all), rowsIn(db, values, scope !== undefined)])
      return { total, rows }
    }
    const [open] = await sum(db, values)
    noticeLoose(db, `${plan.table}_facets`, Number(open!.loose))
    const total = Number(open!.total) + (visible && values[visible.own.needs] ? await kept('own', own, open!) : 0)
    return { total, rows: Number(open!.rows) }
  }
}

/** A text to find anywhere in some columns, as values of a list. */
export interface Search {
  like?: string
  /** The same for the index, which cannot be used for short texts. */
  substring?: string
}

export function searchFor(db: Db, text: string | null | undefined): Search {
  const term = text?.trim() ?? ''
  return {
    ...(term !== '' && { like: likePattern(term) }),
    ...(Array.from(term).length >= SUBSTRING_FROM && { substring: substring(db, term) }),
  }
}

/** The condition on `like`, for tables with a substring index over these columns. */
export const contains = (table: keyof Tables, columns: readonly string[]): Condition<Search> => ({
  // The database folds the case of both sides: databases and JavaScript differ on letters outside ASCII.
  test: ({ like }) => {
    const matches = columns.map((name) => sql`lower(${sql.ref(`${table}.${name}`)}) like lower(${like}) escape '\\'`)
    // PostgreSQL estimates that `like` matches hardly any row and would sort all matches; for `coalesce` it estimates
    // half.
    return sql`coalesce(${sql.join(matches, sql` or `)}, false)`
  },
  set: (values, { db, given }) => (given('substring') ? matchingIds(db, table, columns, values.substring!) : undefined),
})
