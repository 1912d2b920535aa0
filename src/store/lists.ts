/**
 * Long lists, at the same cost however long they are. A list of a table is a declaration:
 *
 * - `conditions`, by the value each needs. A condition has a `test`, made on each row while an order is walked, and
 *   where it leaves few rows a `set` of keys to gather them by, sorted afterwards. The total is known first: few rows
 *   are gathered by the first set that is given, many are walked. A set without a test is tested by being in it, which
 *   is for sets that stay small. `search` walks the substring index itself, for lists in the order of their key.
 * - `always`: what narrows every such list. Where it names `column(…)`, so may an index of an order begin.
 * - `orders`: each needs an index `(…what always narrows, order, key)`. Ties go by the key.
 * - `visible`: what the viewer sees: what is open to them, and what is theirs besides.
 * - `counted`: whose changes can alter a total, for all lists and for each condition.
 *
 * Totals are added up from `<table>_facets` where nothing but facets is asked, else counted once per change
 * (`counts.ts`). Statements are compiled once per set of given values (`hot.ts`), so a value that is absent is no
 * condition, and what only alters another condition is a value too.
 *
 * Issues are to be declared so. `always` is `project_id = ?` in a project, where every order's index begins with it;
 * `state` is a facet, `confidential` another, and `visible` is open with `not confidential` and theirs by author,
 * assignee or level. `labels` is one list of titles (`idList`): its set gathers links by title, its test counts them.
 * `milestone`, `assignee_id`, `iids` and `my_reaction_emoji` have sets, `created_after` and the like tests alone,
 * `search` is `contains()`, and each `not[…]` a test under a name of its own. Merge requests are the same with other states; jobs have `scope` as a test and the key as their only order; notes have their issue in
 * `always`.
 */
import { sql, type CompiledQuery, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { keptTotal } from './counts.ts'
import type { Db, Row, Tables } from './database.ts'
import { SUBSTRING_FROM, foundId, foundIds, likePattern, substring, unindexed, whereContains } from './dialect.ts'
import { hotQuery, type Given, type HotQuery } from './hot.ts'
import type { Cut, Page } from './pages.ts'

/** What a condition is built with beside the values. */
export interface At<V> {
  readonly db: Db
  readonly given: Given<V>
  /** A column of the table that an index of an order may begin with; where rows are gathered it must not lead there. */
  column(name: string): RawBuilder<unknown>
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

type Sort = 'asc' | 'desc'

interface ListPlan<V extends object, T extends keyof Tables, O extends string> {
  table: T
  /** `id` unless the rows have none: what sets hold and ties go by. */
  key?: keyof Row<T> & string
  /** From how many rows on walking comes to a page's end sooner than gathering. */
  many?: number
  /** Whether `<table>_facets` is kept, with every column that `always` and facets ask. */
  facets?: true
  counted: readonly string[]
  always?: (values: V, at: At<V>) => RawBuilder<boolean>[]
  /** Those that leave fewest rows first. */
  conditions?: { [name in keyof V]?: Condition<V> }
  visible?: Visible<V>
  /** Null is the key's own. */
  orders: { [name in O]: ((db: Db) => RawBuilder<unknown>) | null }
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

export interface LongList<V extends object, T extends keyof Tables, O extends string> {
  (db: Db, values: V, cut: Cut, order?: OrderWish<O>): Promise<Page<Row<T>>>
  /** The next rows by key, without a total: what pages by key are made of. */
  next(db: Db, values: V, sort: Sort, limit: number): Promise<Row<T>[]>
  /** The statement of one page, as in `HotQuery`. */
  page: HotQuery<V & Way<O> & Cut, Row<T>>
  compile(db: Db, values: V, cut: Cut): CompiledQuery
}

// oxlint-disable-next-line no-explicit-any -- the table is a type parameter, which the builder cannot follow
type Query<O> = SelectQueryBuilder<any, any, O>

const MANY = 2000
let lists = 0

export function longList<V extends object, T extends keyof Tables, O extends string>(
  plan: ListPlan<V, T, O>,
): LongList<V, T, O> {
  const { table, key = 'id', many = MANY, always, visible, orders, usual } = plan
  const name = `list ${++lists} of ${table}`
  const conditions = Object.entries(plan.conditions ?? {}) as [keyof V & string, Condition<V>][]
  const keyColumn = sql.ref(`${table}.${key}`)
  const plain = (name: string) => sql.ref(`${table}.${name}`)
  const within = (keys: RawBuilder<number>) => sql<boolean>`${keyColumn} in (${keys})`
  const testOf = ({ test, set }: Condition<V>, values: V, at: At<V>) =>
    test ? test(values, at) : within(set!(values, at)!)

  function visibleTo(given: Given<V>): Condition<V> | undefined {
    if (!visible) return undefined
    const { open, own, set } = visible
    if (!open || !given(open.needs)) return given(own.needs) ? own : undefined
    if (!given(own.needs)) return open
    return {
      test: (values, at) => sql`(${open.test(values, at)} or ${testOf(own, values, at)})`,
      ...(set && { set }),
    }
  }

  function narrow<R>(
    from: Query<R>,
    db: Db,
    values: V,
    given: Given<V>,
    way: 'gathered' | 'walked' | 'uncounted',
  ): Query<R> {
    const asked = conditions.filter(([name]) => given(name))
    const seen = visibleTo(given)
    const tested = [...asked.filter(([, { search }]) => !search).map(([, one]) => one), ...(seen ? [seen] : [])]
    const found = asked.find(([, { search }]) => search)
    const sets = { db, given, column: plain }
    const isGathered = (one: Condition<V>) =>
      way !== 'walked' && !(way === 'uncounted' && one === seen) && one.set?.(values, sets) !== undefined
    const gathered = found ? undefined : tested.find(isGathered)
    const column = gathered || found ? (name: string) => unindexed(db, `${table}.${name}`) : plain
    const at = { db, given, column }
    const tests = [
      ...(always?.(values, at) ?? []),
      ...tested.map((one) => (one === gathered ? within(one.set!(values, at)!) : testOf(one, values, at))),
    ]
    const query = found ? containing(db, from, found[1].search!, values[found[0]] as string) : from
    return tests.length === 0 ? query : query.where(and(tests))
  }

  const containing = <R>(db: Db, from: Query<R>, columns: readonly string[], wanted: string) =>
    whereContains(db, from as SelectQueryBuilder<Tables, T, R>, table, columns, wanted) as unknown as Query<R>
  const rowsOf = (db: Db) => db.selectFrom(table as 'users') as unknown as Query<object>
  const total = sql<number>`count(*)`.as('total')

  const page = hotQuery<V & Way<O> & Cut, Row<T>>((db, values, given) => {
    const isGiven = given as (name: string) => boolean
    const way = isGiven('walked') ? 'walked' : isGiven('uncounted') ? 'uncounted' : 'gathered'
    const names = Object.keys(orders) as O[]
    const asked = names.flatMap((name) => [[name, 'asc'] as const, [name, 'desc'] as const])
    const [order, sort] = asked.find(([name, sort]) => isGiven(`by ${name} ${sort}`)) ?? usual(given as Given<V>)
    const by = orders[order]
    const isFound = conditions.some(([name, { search }]) => search && given(name))
    return narrow(rowsOf(db).selectAll(table), db, values, given as Given<V>, way)
      .$if(by !== null, (query) => query.orderBy(by!(db), sort))
      .orderBy(isFound ? foundId(db, table) : keyColumn, sort)
      .limit(values.limit)
      .offset(values.offset) as unknown as Query<Row<T>>
  })

  const count = hotQuery<V, { total: number }>((db, values, given) =>
    narrow(rowsOf(db).select(total), db, values, given, 'gathered'),
  )

  const facetTests = (values: V, at: At<V>) => [
    ...(always?.(values, at) ?? []),
    ...conditions.filter(([name]) => at.given(name)).map(([, one]) => one.test!(values, at)),
  ]
  const isOpen = (given: Given<V>) => visible?.open !== undefined && given(visible.open.needs)

  /** Adds up facets, of everything or of what is open to the viewer: the same tests on fewer rows that weigh more. */
  const sum = hotQuery<V, { total: number }>((db, values, given) => {
    const at = { db, given, column: plain }
    const tests = [...facetTests(values, at), ...(isOpen(given) ? [visible!.open!.test(values, at)] : [])]
    const facets = db.selectFrom(sql.table(`${table}_facets`).as(table) as never) as unknown as Query<object>
    const summed = facets.select(sql<number>`coalesce(sum(total), 0)`.as('total'))
    return tests.length === 0 ? summed : summed.where(and(tests))
  })

  /** What the viewer has beside what is open to them. */
  const countOwn = hotQuery<V, { total: number }>((db, values, given) => {
    const at = { db, given, column: (name: string) => unindexed(db, `${table}.${name}`) }
    const { open, own } = visible!
    const mine = own.set?.(values, at)
    const isMine = mine ? within(mine) : own.test!(values, at)
    const tests = [...facetTests(values, at), isMine, sql<boolean>`not ${open!.test(values, at)}`]
    return rowsOf(db).select(total).where(and(tests))
  })

  const givenIn =
    (values: V): Given<V> =>
    (name) =>
      (values[name] ?? null) !== null

  async function countAll(db: Db, values: V): Promise<number> {
    const given = givenIn(values)
    const asked = conditions.filter(([name]) => given(name)).map(([, one]) => one)
    const isViewed = visible !== undefined && given(visible.own.needs)
    const depending = [...asked, ...(isViewed ? [visible.own] : [])]
    const subjects = [...plan.counted, ...depending.flatMap(({ counted = [] }) => counted)]
    const kept = (what: string, counting: typeof count) =>
      keptTotal(db, subjects, `${name} ${what} ${JSON.stringify(values)}`, async () =>
        totalIn(await counting(db, values)),
      )

    const byFacets = plan.facets && asked.every(({ facet }) => facet) && (isOpen(given) || !isViewed)
    if (!byFacets) return kept('all', count)
    const open = totalIn(await sum(db, values))
    return visible && values[visible.own.needs] ? open + (await kept('own', countOwn)) : open
  }

  const list = async (db: Db, values: V, { limit, offset }: Cut, { order_by, sort }: OrderWish<O> = {}) => {
    const total = await countAll(db, values)
    if (limit === 0 || offset >= total) return { items: [], total }
    const [order, way] = usual(givenIn(values))
    const by = { [`by ${order_by ?? order} ${sort ?? way}`]: true, ...(total > many && { walked: true }) } as Way<O>
    return { items: await page(db, { ...values, ...by, limit, offset }), total }
  }
  const next = async (db: Db, values: V, sort: Sort, limit: number) => {
    const by = { [`by ${key} ${sort}`]: true, uncounted: true } as Way<O>
    return page(db, { ...values, ...by, limit, offset: 0 })
  }
  const compile = (db: Db, values: V, cut: Cut) => page.compile(db, { ...values, ...cut } as V & Way<O> & Cut)
  return Object.assign(list, { next, page, compile })
}

const totalIn = (rows: readonly { total: number }[]) => Number(rows[0]!.total)
const and = (tests: RawBuilder<boolean>[]) => sql<boolean>`${sql.join(tests, sql` and `)}`

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
