/**
 * Lists of what people did: in a project, by somebody, or in all projects one belongs to. What lies between two days is
 * added up by days.
 */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { textsIn, unindexed } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { longList, type At, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { seenBy } from '../planned.ts'
import { LEVEL, isOn, isOpen, isReadable, seesMergeRequests } from '../seeing.ts'
import { ALL_KINDS, KINDS, type Activity, type Needs } from './model.ts'

interface Wanted {
  project?: number
  author?: number
  /** In whose projects. */
  member?: number
  /** JSON. */
  kinds?: string
  from?: string
  until?: string
  /** Absent for those who see everything; 0 for visitors. */
  seen_by?: number
  internal_too?: true
}

const kindsOf = (needs: Needs) =>
  sql.join(ALL_KINDS.filter((kind) => KINDS[kind].needs === needs).map((k) => sql.lit(k)))

/** Whether the viewer sees the project of a row, and what the row is about; `also` of what is reserved. */
function isSeen(w: Wanted, { given }: At<Wanted>, row: string, also = sql<boolean>`true`): RawBuilder<boolean> {
  const way = { internalToo: given('internal_too') }
  const kind = sql.ref(`${row}.kind`)
  return sql`exists (select 1 from projects p
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${w.seen_by}
    where p.id = ${sql.ref(`${row}.project_id`)} and ${isReadable(way)} and ${also}
    and case when ${kind} in (${kindsOf('code')})
        then ${isOn('repository')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)})
      when ${kind} in (${kindsOf('merge_requests')})
        then ${seesMergeRequests(way)}
      when ${kind} in (${kindsOf('issues')}) then ${isOn('issues')}
      when ${kind} in (${kindsOf('snippets')}) then ${isOn('snippets')}
      when ${kind} in (${kindsOf('work')}) then (${isOn('issues')} or ${isOn('merge_requests')})
      else true end)`
}

/** Of a snippet that is not for everybody: they wrote it, or it is for whoever is signed in. */
const isOfOwnSnippet = (w: Wanted, at: At<Wanted>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.note_id`)} in (select n.id from notes n join snippets s on s.id = n.snippet_id
    where s.author_id = ${w.seen_by} ${at.given('internal_too') ? sql`or s.visibility = 'internal'` : sql``})
  and ${isSeen(w, at, row)})`

const isOwn = (w: Wanted, at: At<Wanted>, row: string) =>
  sql<boolean>`(${isOfOwnIssue(w, at, row)} or ${isOfOwnSnippet(w, at, row)})`

/** Who sees what is reserved. */
const least = sql`case when activities.kind in (${kindsOf('snippets')}) then ${sql.lit(Guest)} else ${sql.lit(Reporter)} end`

/** Of a confidential issue that they wrote or that is theirs to do; internal notes are not for them. */
const isOfOwnIssue = (w: Wanted, at: At<Wanted>, row: string) => sql<boolean>`(${sql.ref(`${row}.reserved`)}
  and ${sql.ref(`${row}.issue_id`)} in (select i.id from issues i where i.author_id = ${w.seen_by} and i.confidential
    union all select a.issue_id from issue_assignees a where a.user_id = ${w.seen_by})
  and not exists (select 1 from notes n where n.id = ${sql.ref(`${row}.note_id`)} and n.internal)
  and ${isSeen(w, at, row)})`

const whose = (w: Wanted, { given }: At<Wanted>, column: (name: string) => RawBuilder<unknown>) => [
  ...(given('project') ? [sql<boolean>`${column('project_id')} = ${w.project}`] : []),
  ...(given('author') ? [sql<boolean>`${column('author_id')} = ${w.author}`] : []),
  ...(given('member')
    ? [
        sql<boolean>`${column('project_id')} in
          (select mine.project_id from project_authorizations mine where mine.user_id = ${w.member})`,
      ]
    : []),
]

const isThere = sql<boolean>`not exists (select 1 from projects p where p.id = activities.project_id and p.deleting)`

const isOpenTo = (w: Wanted, at: At<Wanted>) =>
  isSeen(w, at, 'activities', sql`(not activities.reserved or ${LEVEL} >= ${least})`)

const activities = longList<Wanted, 'activities', 'created_at'>({
  table: 'activities',
  facets: true,
  counted: ['activities', 'projects', 'project_authorizations'],
  always: (w, at) => [...whose(w, at, at.column), isThere],
  conditions: {
    kinds: {
      facet: true,
      test: (w, { db, hidden }) => sql`${hidden('kind')} in (${textsIn(db, w.kinds!)})`,
      set: (w, at) => {
        const tests = whose(w, at, (name) => sql.ref(`k.${name}`))
        return sql`select k.id from activities k where ${sql.join(tests, sql` and `)}
          and k.kind in (${textsIn(at.db, w.kinds!)})`
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
      set: (w, at) => sql`select o.id from activities o where ${isOfOwnIssue(w, at, 'o')}
        union select o.id from activities o where ${isOfOwnSnippet(w, at, 'o')}`,
      counted: ['issues', 'issue_assignees', 'snippets'],
    },
  },
  orders: { created_at: () => sql.ref('activities.created_at') },
  usual: () => ['created_at', 'desc'],
})

interface Between extends Wanted {
  /** The first day, and the one after the last. */
  first?: string
  end?: string
}

const kindTest = (w: Between, { db, given }: Pick<At<Wanted>, 'db' | 'given'>) =>
  given('kinds') ? [sql<boolean>`kind in (${textsIn(db, w.kinds!)})`] : []

/** How many there are of each kind between two days: of projects as they are kept, of somebody counted. */
function kindsBetween(w: Between, at: At<Between>): RawBuilder<unknown> {
  const { given } = at
  const [rows, when, total] = given('author')
    ? [sql`activities`, sql`created_at`, sql`count(*)`]
    : [sql`activity_days`, sql`day`, sql`sum(total)`]
  const [first, end] = given('author') ? [w.from, w.until] : [w.first, w.end]
  const tests = [
    ...whose(w, at as At<Wanted>, (name) => sql.ref(name)),
    ...kindTest(w, at as At<Wanted>),
    ...(given('from') ? [sql`${when} >= ${first}`] : []),
    ...(given('until') ? [sql`${when} < ${end}`] : []),
  ]
  return sql`select project_id, kind, reserved, ${total} as total from ${rows}
    where ${sql.join(tests, sql` and `)} group by project_id, kind, reserved`
}

const openBetween = hotQuery<Between, { total: number }>((db, w, given) => {
  const at = { db, given } as unknown as At<Between> & At<Wanted>
  return db
    .selectFrom(sql<{ total: number }>`(${kindsBetween(w, at)})`.as('activities'))
    .select(sql<number>`coalesce(sum(activities.total), 0)`.as('total'))
    .where(isThere)
    .$if(given('seen_by'), (query) => query.where(isOpenTo(w, at)))
})

/** Of their own confidential issues and of snippets they see, where they do not see all. */
const ownBetween = hotQuery<Between, { total: number }>((db, w, given) => {
  const at = { db, given } as unknown as At<Wanted>
  const tests = [
    isThere,
    isOwn(w, at, 'activities'),
    sql<boolean>`not ${isOpenTo(w, at)}`,
    ...whose(w, at, (name) => unindexed(db, `activities.${name}`)),
    ...kindTest(w, at),
    ...(given('from') ? [sql<boolean>`${unindexed(db, 'activities.created_at')} >= ${w.from}`] : []),
    ...(given('until') ? [sql<boolean>`${unindexed(db, 'activities.created_at')} < ${w.until}`] : []),
  ]
  return db
    .selectFrom('activities')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<boolean>`(${sql.join(tests, sql`) and (`)})`)
})

/** From how many on walking their order comes to a page's end sooner than gathering. */
const MANY = 2000

async function listBetween(db: Db, wanted: Wanted, { limit, offset }: Cut, sort: Sort): Promise<Page<Activity>> {
  const days = {
    ...wanted,
    ...(wanted.from && { first: wanted.from.slice(0, 10) }),
    ...(wanted.until && { end: wanted.until.slice(0, 10) }),
  }
  const [open] = await openBetween(db, days)
  const [own] = wanted.seen_by ? await ownBetween(db, wanted) : [{ total: 0 }]
  const total = Number(open!.total) + Number(own!.total)
  if (limit === 0 || offset >= total) return { items: [], total }
  const way = { [`by created_at ${sort}`]: true as const, ...(total > MANY && { walked: true as const }) }
  return { total, items: await activities.page(db, { ...wanted, ...way, limit, offset }) }
}

export interface ActivityFilter {
  readonly action?: string | null | undefined
  readonly target_type?: string | null | undefined
  /** Days that are left out themselves. */
  readonly before?: string | null | undefined
  readonly after?: string | null | undefined
  readonly sort?: Sort | null | undefined
}

const midnight = (day: string, days = 0) => new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString()

export async function listActivities(
  { db }: App,
  viewer: User | null,
  place: Pick<Wanted, 'project' | 'author' | 'member'>,
  { action, target_type, before, after, sort }: ActivityFilter,
  cut: Cut,
): Promise<Page<Activity>> {
  const kinds = ALL_KINDS.filter(
    (kind) => (!action || KINDS[kind].action === action) && (!target_type || KINDS[kind].target === target_type),
  )
  if (kinds.length === 0) return { items: [], total: 0 }
  const wanted: Wanted = {
    ...place,
    ...(kinds.length < ALL_KINDS.length && { kinds: JSON.stringify(kinds) }),
    ...(after && { from: midnight(after, 1) }),
    ...(before && { until: midnight(before) }),
    ...seenBy(viewer),
  }
  if (after || before) return listBetween(db, wanted, cut, sort ?? 'desc')
  return activities(db, wanted, cut, { sort })
}
