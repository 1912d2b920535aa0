/**
 * Lists of activities: of a project, a user, a group, or all projects of a member. Totals between two days, and totals
 * over many projects, are summed from rows per year, month and day.
 */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { inTextList, textList, unindexed } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { longList, type At, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { itemKinds } from '../items/registry.ts'
import { seenBy } from '../items/conditions.ts'
import { LEVEL, isOn, isOpen, isReadable } from '../seeing.ts'
import { ALL_KINDS, KINDS, type Activity, type Needs } from './model.ts'

interface Filter {
  project?: number
  author?: number
  /** In the projects of this user. */
  member?: number
  /** In the projects of this group and of its subgroups. */
  group?: number
  /** A list as one query parameter. */
  kinds?: string
  from?: string
  until?: string
  /** Absent for administrators; 0 for anonymous viewers. */
  seen_by?: number
  internal_too?: true
  /** The query walks the order of the list (`lists.ts`). */
  walked?: true
}

const kindsOf = (needs: Needs) =>
  sql.join(ALL_KINDS.filter((kind) => KINDS[kind].needs === needs).map((k) => sql.lit(k)))

/**
 * Whether the viewer, with authorization `t` in project `p`, may see the record of the row. `also` is the condition for
 * reserved rows.
 */
function isSeenIn({ given }: Pick<At<Filter>, 'given'>, row: string, also: RawBuilder<boolean>): RawBuilder<boolean> {
  const way = { internalToo: given('internal_too') }
  const kind = sql.ref(`${row}.kind`)
  const items = itemKinds().map(({ table, seesAll }) => sql`when ${kind} in (${kindsOf(table)}) then ${seesAll(way)}`)
  return sql`${isReadable(way)} and ${also}
    and case when ${kind} in (${kindsOf('code')})
        then ${isOn('repository')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)})
      ${sql.join(items, sql` `)}
      when ${kind} in (${kindsOf('snippets')}) then ${isOn('snippets')}
      when ${kind} in (${kindsOf('work')}) then (${isOn('issues')} or ${isOn('merge_requests')})
      else true end`
}

const isSeen = (w: Filter, at: At<Filter>, row: string, also = sql<boolean>`true`) => sql<boolean>`exists (
  select 1 from projects p left join project_authorizations t on t.project_id = p.id and t.user_id = ${w.seen_by}
  where p.id = ${sql.ref(`${row}.project_id`)} and ${isSeenIn(at, row, also)})`

/**
 * A note on a snippet that is not public: the viewer wrote the snippet, or it is internal and the viewer is signed in.
 * An index covers these rows.
 */
const isOfOwnSnippet = (w: Filter, at: At<Filter>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.kind`)} = 'snippet.commented'
  and exists (select 1 from notes n join snippets s on s.id = n.snippet_id where n.id = ${sql.ref(`${row}.note_id`)}
    and (s.author_id = ${w.seen_by} ${at.given('internal_too') ? sql`or s.visibility = 'internal'` : sql``}))
  and ${isSeen(w, at, row)})`

const isOwn = (w: Filter, at: At<Filter>, row: string) =>
  sql<boolean>`(${isOfOwnIssue(w, at, row)} or ${isOfOwnSnippet(w, at, row)})`

/** Each part uses its own index. Other conditions must not make the planner choose another one. */
const ownIds = (w: Filter, at: At<Filter>): RawBuilder<number> => {
  const narrow = whose(w, at, (name) => unindexed(at.db, `o.${name}`), { tested: true }).map(
    (test) => sql` and ${test}`,
  )
  const also = narrow.length === 0 ? sql`` : sql.join(narrow, sql``)
  return sql`select o.id from activities o where ${isOfOwnIssue(w, at, 'o')}${also}
    union select o.id from activities o where ${isOfOwnSnippet(w, at, 'o')}${also}`
}

/** Whether the viewer's level is enough for reserved rows. */
const isForThem = (row: string) => sql<boolean>`(not ${sql.ref(`${row}.reserved`)}
  or ${LEVEL} >= case when ${sql.ref(`${row}.kind`)} in (${kindsOf('snippets')})
    then ${sql.lit(Guest)} else ${sql.lit(Reporter)} end)`

/** A confidential issue that the viewer wrote or is assigned to, without internal notes. */
const isOfOwnIssue = (w: Filter, at: At<Filter>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.issue_id`)} in (select i.id from issues i where i.author_id = ${w.seen_by} and i.confidential
    union all select a.issue_id from issue_assignees a join issues i on i.id = a.issue_id
      where a.user_id = ${w.seen_by} and i.confidential)
  and coalesce((select not n.internal from notes n where n.id = ${sql.ref(`${row}.note_id`)}), true)
  and ${isSeen(w, at, row)})`

type Column = (name: string) => RawBuilder<unknown>

/**
 * `tested`: PostgreSQL must not start from the member's projects where rows come from another index or from walking the
 * order.
 */
const whose = (w: Filter, { given }: Pick<At<Filter>, 'given'>, column: Column, { tested }: { tested: boolean }) => [
  ...(given('project') ? [sql<boolean>`${column('project_id')} = ${w.project}`] : []),
  ...(given('author') ? [sql<boolean>`${column('author_id')} = ${w.author}`] : []),
  ...(given('member')
    ? [
        tested
          ? sql<boolean>`coalesce((select true from project_authorizations mine
              where mine.user_id = ${w.member} and mine.project_id = ${column('project_id')}), false)`
          : sql<boolean>`${column('project_id')} in
              (select mine.project_id from project_authorizations mine where mine.user_id = ${w.member})`,
      ]
    : []),
  ...(given('group')
    ? [
        tested
          ? sql<boolean>`coalesce((select true from projects theirs
              join namespace_ancestors above on above.namespace_id = theirs.namespace_id and above.ancestor_id = ${w.group}
              where theirs.id = ${column('project_id')}), false)`
          : sql<boolean>`${column('project_id')} in (select theirs.id from projects theirs
              join namespace_ancestors above on above.namespace_id = theirs.namespace_id
              where above.ancestor_id = ${w.group})`,
      ]
    : []),
]

/** Not `exists`: PostgreSQL would read all projects that are being deleted, once per page. */
const isThere = sql<boolean>`coalesce((select not p.deleting from projects p where p.id = activities.project_id), false)`

const isOpenTo = (w: Filter, at: At<Filter>) => isSeen(w, at, 'activities', isForThem('activities'))

const activities = longList<Filter, 'activities', 'created_at'>({
  table: 'activities',
  facets: true,
  counted: ['activities', 'projects', 'project_authorizations'],
  always: (w, at) => [...whose(w, at, at.column, { tested: at.given('walked') || at.given('kinds') }), isThere],
  conditions: {
    kinds: {
      facet: true,
      test: (w, { db, hidden }) => inTextList(db, hidden('kind'), w.kinds!),
      set: (w, at) => {
        const tests = whose(w, at, (name) => sql.ref(`k.${name}`), { tested: false })
        return sql`select k.id from activities k where ${sql.join(tests, sql` and `)}
          and ${inTextList(at.db, 'k.kind', w.kinds!)}`
      },
    },
    from: { test: (w) => sql`activities.created_at >= ${w.from}` },
    until: { test: (w) => sql`activities.created_at < ${w.until}` },
  },
  visible: {
    open: {
      needs: 'seen_by',
      test: (w, at) => isOpenTo(w, at),
    },
    own: {
      needs: 'seen_by',
      test: (w, at) => isOwn(w, at, 'activities'),
      set: ownIds,
      counted: ['issues', 'issue_assignees', 'snippets'],
    },
  },
  orders: { created_at: () => sql.ref('activities.created_at') },
  usual: () => ['created_at', 'desc'],
})

/**
 * The spans of `activity_spans` for a period: days, whole months, whole years, whole months, and days up to the one
 * before `end`.
 */
interface Spans {
  first: string
  months: string
  years: string
  years_end: string
  months_end: string
  end: string
}

type Between = Filter & Spans

const kindTest = (w: Filter, { db, given }: Pick<At<Filter>, 'db' | 'given'>, row: string) =>
  given('kinds') ? [inTextList(db, `${row}.kind`, w.kinds!)] : []

/** Rows of unit, first and last. Empty spans are left out. */
const spanRows = (w: Spans) => sql`(select unit, first, last from (
  select 'day' as unit, ${w.first} as first, ${w.months} as last
  union all select 'month', substr(${w.months}, 1, 7), substr(${w.years}, 1, 7)
  union all select 'year', substr(${w.years}, 1, 4), substr(${w.years_end}, 1, 4)
  union all select 'month', substr(${w.years_end}, 1, 7), substr(${w.months_end}, 1, 7)
  union all select 'day', ${w.months_end}, ${w.end}) as spans where first < last)`

const isWithinSpan = sql<boolean>`s.unit = span.unit and s.start >= span.first and s.start < span.last`

/**
 * The number of activities per kind between two days, of a project or by a user. Visibility is checked once per kind.
 */
const openBetween = hotQuery<Between, { total: number }>((db, w, given) => {
  const at = { db, given } as unknown as At<Filter>
  const ofProjects = given('author') ? [] : [sql<boolean>`s.author_id = 0`]
  const tests = [
    ...ofProjects,
    ...whose(w, at, (name) => sql.ref(`s.${name}`), { tested: false }),
    ...kindTest(w, at, 's'),
  ]
  const kinds = sql<{ total: number }>`(select s.project_id, s.kind, s.reserved, sum(s.total) as total
    from ${spanRows(w)} as span cross join activity_spans s where ${sql.join(tests, sql` and `)} and ${isWithinSpan}
    group by s.project_id, s.kind, s.reserved)`
  return db
    .selectFrom(kinds.as('activities'))
    .select(sql<number>`coalesce(sum(activities.total), 0)`.as('total'))
    .where(isThere)
    .$if(given('seen_by'), (query) => query.where(isOpenTo(w, at)))
})

/** The same over many projects. Visibility is checked once per project. */
const openInMany = hotQuery<Between, { total: number }>((db, w, given) => {
  const at = { db, given } as unknown as At<Filter>
  const rights = sql`left join project_authorizations t on t.project_id = p.id and t.user_id = ${w.seen_by}`
  const tests = [
    sql<boolean>`s.project_id = p.id and s.author_id = 0 and ${isWithinSpan}`,
    ...kindTest(w, at, 's'),
    ...(given('seen_by') ? [isSeenIn(at, 's', isForThem('s'))] : []),
  ]
  const [many, ofThem] = given('member')
    ? [sql`project_authorizations mine join projects p on p.id = mine.project_id`, sql`mine.user_id = ${w.member}`]
    : [
        sql`namespace_ancestors above join projects p on p.namespace_id = above.namespace_id`,
        sql`above.ancestor_id = ${w.group}`,
      ]
  const found = sql<{ total: number }>`(select
      (select sum(s.total) from activity_spans s where ${sql.join(tests, sql` and `)}) as total
    from ${many} ${given('seen_by') ? rights : sql``}
    cross join ${spanRows(w)} as span where ${ofThem} and not p.deleting)`
  return db.selectFrom(found.as('found')).select(sql<number>`coalesce(sum(found.total), 0)`.as('total'))
})

/** Own confidential issues and visible snippets, for viewers who do not see all. */
const ownBetween = hotQuery<Filter, { total: number }>((db, w, given) => {
  const at = { db, given } as unknown as At<Filter>
  const tests = [
    isThere,
    sql<boolean>`activities.id in (${ownIds(w, at)})`,
    sql<boolean>`not ${isOpenTo(w, at)}`,
    ...kindTest(w, at, 'activities'),
    ...(given('from') ? [sql<boolean>`${unindexed(db, 'activities.created_at')} >= ${w.from}`] : []),
    ...(given('until') ? [sql<boolean>`${unindexed(db, 'activities.created_at')} < ${w.until}`] : []),
  ]
  return db
    .selectFrom('activities')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<boolean>`(${sql.join(tests, sql`) and (`)})`)
})

const [EARLIEST, LATEST] = ['0001-01-01', '9999-12-31']

const isFirst = (day: string, of: 'month' | 'year') => day.endsWith(of === 'month' ? '-01' : '-01-01')

/** The first day of a month or a year: this day or the next one that is. */
function nextFirst(day: string, of: 'month' | 'year'): string {
  if (isFirst(day, of) || day === LATEST) return day
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))]
  return new Date(of === 'month' ? Date.UTC(year, month, 1) : Date.UTC(year + 1, 0, 1)).toISOString().slice(0, 10)
}

const lastFirst = (day: string, of: 'month' | 'year') =>
  day === LATEST ? day : of === 'month' ? `${day.slice(0, 7)}-01` : `${day.slice(0, 4)}-01-01`

/** A span without a whole month or year is empty. */
function spansOf({ from, until }: Filter): Spans {
  const first = from?.slice(0, 10) ?? EARLIEST
  const end = until?.slice(0, 10) ?? LATEST
  const whole = (start: string, end: string, of: 'month' | 'year') => {
    const [begins, ends] = [nextFirst(start, of), lastFirst(end, of)]
    return begins < ends ? [begins, ends] : [end, end]
  }
  const [months, months_end] = whole(first, end, 'month') as [string, string]
  const [years, years_end] = whole(months, months_end, 'year') as [string, string]
  return { first, months, years, years_end, months_end, end }
}

/** From this number on, walking the order of a user or a project fills a page sooner than collecting and sorting. */
const MANY = 500

const lastId = hotQuery<object, { rows: number }>((db) =>
  db.selectFrom('activities').select(sql<number>`coalesce(max(id), 0)`.as('rows')),
)

/** Whether matching rows are so frequent that walking the order fills the page soon. */
async function isDense(db: Db, total: number, { limit, offset }: Cut): Promise<boolean> {
  const [last] = await lastId(db, {})
  return (offset + limit) * Number(last!.rows) < total * total
}

async function listBetween(db: Db, values: Filter, cut: Cut, sort: Sort): Promise<Page<Activity>> {
  const { limit, offset } = cut
  const isOfMany = values.member !== undefined || values.group !== undefined
  const openIn = isOfMany ? openInMany : openBetween
  const [open] = await openIn(db, { ...values, ...spansOf(values) })
  const [own] = values.seen_by ? await ownBetween(db, values) : [{ total: 0 }]
  const total = Number(open!.total) + Number(own!.total)
  if (limit === 0 || offset >= total) return { items: [], total }
  const walked = isOfMany ? await isDense(db, total, cut) : total > MANY
  const way = { [`by created_at ${sort}`]: true as const, ...(walked && { walked: true as const }) }
  return { total, items: await activities.page(db, { ...values, ...way, limit, offset }) }
}

export interface ActivityFilter {
  readonly action?: string | null | undefined
  readonly target_type?: string | null | undefined
  /** Both days are exclusive. */
  readonly before?: string | null | undefined
  readonly after?: string | null | undefined
  readonly sort?: Sort | null | undefined
}

const midnight = (day: string, days = 0) => new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString()

export async function listActivities(
  { db }: App,
  viewer: User | null,
  scope: Pick<Filter, 'project' | 'author' | 'member' | 'group'>,
  { action, target_type, before, after, sort }: ActivityFilter,
  cut: Cut,
): Promise<Page<Activity>> {
  const kinds = ALL_KINDS.filter(
    (kind) => (!action || KINDS[kind].action === action) && (!target_type || KINDS[kind].target === target_type),
  )
  if (kinds.length === 0) return { items: [], total: 0 }
  const values: Filter = {
    ...scope,
    ...(kinds.length < ALL_KINDS.length && { kinds: textList(db, kinds) }),
    ...(after && { from: midnight(after, 1) }),
    ...(before && { until: midnight(before) }),
    ...seenBy(viewer),
  }
  if (after || before || scope.member !== undefined || scope.group !== undefined)
    return listBetween(db, values, cut, sort ?? 'desc')
  return activities(db, values, cut, { sort })
}
