/**
 * Lists of projects, at the same cost however many projects there are. Each condition of a list can be put in two ways:
 * as a set of ids to gather from, sorted afterwards, or as a test to make on each row while the order is walked. Few
 * matches are gathered, many are walked; the total, which is known first, decides.
 */
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { Page, PageWish } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, Owner, levelWithin, type Visibility } from '../../../lib/levels.ts'
import { keptTotal } from '../../../store/counts.ts'
import type { Db, Tables } from '../../../store/database.ts'
import { SUBSTRING_FROM, binaryText, foundIds, substring, unindexed } from '../../../store/dialect.ts'
import { hotQuery, shapeOf, type Given } from '../../../store/hot.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { Project } from './queries.ts'

export const PROJECT_ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const
export type ProjectOrder = (typeof PROJECT_ORDERS)[number]

export interface ProjectFilter {
  archived?: boolean | null | undefined
  visibility?: Visibility | null | undefined
  search?: string | null | undefined
  owned?: boolean | null | undefined
  membership?: boolean | null | undefined
  starred?: boolean | null | undefined
  min_access_level?: number | null | undefined
  with_issues_enabled?: boolean | null | undefined
  with_merge_requests_enabled?: boolean | null | undefined
  topic?: string | null | undefined
  id_after?: number | null | undefined
  id_before?: number | null | undefined
  last_activity_after?: string | null | undefined
  last_activity_before?: string | null | undefined
  order_by?: ProjectOrder | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  /** Of one namespace. */
  namespace_id?: number
  /** Forks of one project. */
  forked_from_id?: number
  /** Starred by someone in particular, whoever looks. */
  starred_by?: number
  /** Of a group, perhaps with what lies below it and what is shared with it. */
  group?: { id: number; include_subgroups?: boolean | null | undefined; with_shared?: boolean | null | undefined }
}

/** From here on walking the order comes to a page's end sooner than gathering all matches. */
const MANY = 2000

/** Whose changes can alter a total. */
const COUNTED = ['projects', 'project_authorizations', 'project_topics', 'project_shares', 'stars', 'members']

export async function listProjects(
  app: App,
  viewer: User | null,
  filter: ProjectFilter,
  { limit, offset }: Pick<PageWish, 'limit' | 'offset'>,
): Promise<Page<Project>> {
  const { db } = app
  const wanted = wantedBy(db, viewer, filter)
  const total = await totalOf(db, wanted)
  if (limit === 0 || offset >= total) return { items: [], total }
  const order = `by ${filter.order_by ?? 'created_at'} ${filter.sort ?? 'desc'}`
  const walked = total > MANY ? (true as const) : undefined
  return { items: await pageOfProjects(db, { ...wanted, [order]: true, walked, limit, offset }), total }
}

/** The next projects by id, without a total: what pages by key are made of. */
export async function nextProjects(
  app: App,
  viewer: User | null,
  filter: ProjectFilter,
  limit: number,
): Promise<Project[]> {
  const wanted = wantedBy(app.db, viewer, filter)
  const walked = Object.keys(wanted).some((name) => GATHERED.has(name)) ? undefined : (true as const)
  const order = `by id ${filter.sort ?? 'desc'}`
  return pageOfProjects(app.db, { ...wanted, [order]: true, walked, limit, offset: 0 })
}

/** The values of a list's conditions; what is absent is no condition. */
interface Wanted {
  archived: boolean
  visibility?: Visibility
  issues?: true
  merge_requests?: true
  /** Absent for administrators, who see everything; 0 for visitors. */
  seen_by?: number
  internal_too?: true
  member?: number
  at_least?: number
  owner?: number
  starred_by?: number
  topic?: string
  substring?: string
  like?: string
  namespace?: number
  source?: number
  group?: number
  subgroups?: true
  shared?: true
  id_after?: number
  id_before?: number
  active_after?: string
  active_before?: string
}

const FACETS = new Set(['archived', 'visibility', 'issues', 'merge_requests'])
const OF_VIEWER = new Set(['seen_by', 'internal_too'])
/** What narrows a list to a set that is worth gathering. */
const GATHERED = new Set(['member', 'owner', 'starred_by', 'topic', 'substring', 'namespace', 'group', 'source'])

function wantedBy(db: Db, viewer: User | null, filter: ProjectFilter): Wanted {
  const search = filter.search?.trim() ?? ''
  const { group } = filter
  return {
    archived: filter.archived ?? false,
    ...(filter.visibility && { visibility: filter.visibility }),
    ...(filter.with_issues_enabled && { issues: true }),
    ...(filter.with_merge_requests_enabled && { merge_requests: true }),
    ...seenBy(viewer, filter.visibility ?? null),
    ...(viewer && (filter.membership || filter.min_access_level) && { member: viewer.id }),
    ...(viewer && filter.min_access_level && { at_least: levelWithin(filter.min_access_level) }),
    ...(viewer && filter.owned && { owner: viewer.id }),
    ...(viewer && filter.starred && { starred_by: viewer.id }),
    ...(filter.starred_by !== undefined && { starred_by: filter.starred_by }),
    ...(filter.topic && { topic: filter.topic }),
    ...(search !== '' && { like: `%${search.replace(/[\\%_]/g, '\\$&')}%` }),
    ...(Array.from(search).length >= SUBSTRING_FROM && { substring: substring(db, search) }),
    ...(filter.namespace_id !== undefined && { namespace: filter.namespace_id }),
    ...(filter.forked_from_id !== undefined && { source: filter.forked_from_id }),
    ...(group && { group: group.id }),
    ...(group?.include_subgroups && { subgroups: true }),
    ...(group?.with_shared && { shared: true }),
    ...(typeof filter.id_after === 'number' && { id_after: filter.id_after }),
    ...(typeof filter.id_before === 'number' && { id_before: filter.id_before }),
    ...(filter.last_activity_after && { active_after: filter.last_activity_after }),
    ...(filter.last_activity_before && { active_before: filter.last_activity_before }),
  }
}

function seenBy(viewer: User | null, wished: Visibility | null): Pick<Wanted, 'seen_by' | 'internal_too' | 'member'> {
  const active = viewer?.state === 'active'
  if (active && viewer.admin) return {}
  // Blocked people keep their memberships, and have nothing of them.
  const seer = active ? viewer.id : 0
  const open = openVisibilities(viewer)
  if (wished && open.includes(wished)) return {}
  if (wished) return { member: seer }
  return { seen_by: seer, ...(open.includes('internal') && { internal_too: true }) }
}

interface Condition {
  test: RawBuilder<boolean>
  /** Ids of what passes the test; absent where it passes too many to be worth gathering. */
  set?: RawBuilder<number>
}

const openTo = (given: Given<Wanted>) => sql.raw(given('internal_too') ? "('public', 'internal')" : "('public')")

/** Where a set is gathered, the order's index would only lead away from it. */
const facetTests = (
  w: Wanted,
  given: Given<Wanted>,
  column: (name: string) => RawBuilder<unknown> = sql.ref,
): RawBuilder<boolean>[] => [
  sql`not projects.deleting`,
  sql`${column('projects.archived')} = ${w.archived}`,
  ...(given('visibility') ? [sql<boolean>`${column('projects.visibility')} = ${w.visibility}`] : []),
  ...(given('issues') ? [sql<boolean>`projects.issues_access_level > ${sql.lit(FeatureDisabled)}`] : []),
  ...(given('merge_requests')
    ? [sql<boolean>`projects.merge_requests_access_level > ${sql.lit(FeatureDisabled)}`]
    : []),
]

const rangeTests = (w: Wanted, given: Given<Wanted>): RawBuilder<boolean>[] => [
  ...(given('id_after') ? [sql<boolean>`projects.id > ${w.id_after}`] : []),
  ...(given('id_before') ? [sql<boolean>`projects.id < ${w.id_before}`] : []),
  ...(given('active_after') ? [sql<boolean>`projects.last_activity_at >= ${w.active_after}`] : []),
  ...(given('active_before') ? [sql<boolean>`projects.last_activity_at <= ${w.active_before}`] : []),
]

/** Sets that a list is made of, whoever looks. */
const conditions: { needs: keyof Wanted; of(w: Wanted, given: Given<Wanted>, db: Db): Condition }[] = [
  {
    needs: 'member',
    of(w, given) {
      const level = given('at_least') ? sql`and access_level >= ${w.at_least}` : sql``
      return {
        test: sql`exists (select 1 from project_authorizations t where t.user_id = ${w.member}
          and t.project_id = projects.id ${level})`,
        set: sql`select project_id from project_authorizations where user_id = ${w.member} ${level}`,
      }
    },
  },
  {
    // Of their own namespace and of groups they own directly.
    needs: 'owner',
    of(w) {
      const namespaces = sql`select id from namespaces where owner_id = ${w.owner} union all
        select group_id from members where user_id = ${w.owner} and group_id is not null
        and access_level = ${sql.lit(Owner)}`
      return {
        test: sql`projects.namespace_id in (${namespaces})`,
        set: sql`select p.id from projects p where p.namespace_id in (${namespaces})`,
      }
    },
  },
  {
    needs: 'starred_by',
    of: (w) => ({
      test: sql`exists (select 1 from stars t where t.user_id = ${w.starred_by} and t.project_id = projects.id)`,
      set: sql`select project_id from stars where user_id = ${w.starred_by}`,
    }),
  },
  {
    needs: 'topic',
    of: (w) => ({
      test: sql`exists (select 1 from project_topics t
        where t.project_id = projects.id and lower(t.name) = lower(${w.topic}))`,
      set: sql`select project_id from project_topics where lower(name) = lower(${w.topic})`,
    }),
  },
  {
    needs: 'like',
    of: (w, given, db) => ({
      // The engine folds both sides: it and JavaScript differ on letters beyond ASCII.
      test: sql`(lower(projects.name) like lower(${w.like}) escape '\\'
        or lower(projects.path) like lower(${w.like}) escape '\\')`,
      ...(given('substring') && { set: foundIds(db, 'projects', ['name', 'path'], w.substring!) }),
    }),
  },
  {
    needs: 'namespace',
    of: (w) => ({
      test: sql`projects.namespace_id = ${w.namespace}`,
      set: sql`select id from projects where namespace_id = ${w.namespace}`,
    }),
  },
  {
    needs: 'source',
    of: (w) => ({
      test: sql`projects.forked_from_id = ${w.source}`,
      set: sql`select id from projects where forked_from_id = ${w.source}`,
    }),
  },
  { needs: 'group', of: ofGroup },
]

function ofGroup(w: Wanted, given: Given<Wanted>): Condition {
  const inside = given('subgroups')
    ? sql`select namespace_id from namespace_ancestors where ancestor_id = ${w.group}`
    : sql`${w.group}`
  const shared = sql`select project_id from project_shares where group_id = ${w.group}`
  const tests = [sql`projects.namespace_id in (${inside})`]
  const sets = [sql`select id from projects where namespace_id in (${inside})`]
  if (given('shared')) {
    tests.push(sql`projects.id in (${shared})`)
    sets.push(shared)
  }
  return { test: sql`(${sql.join(tests, sql` or `)})`, set: sql`${sql.join(sets, sql` union `)}` }
}

/** What the viewer may see; gathered only where nothing else narrows the list. */
function visible(w: Wanted, given: Given<Wanted>): Condition {
  const open = given('internal_too') ? ['public', 'internal'] : ['public']
  const sets = open.map(
    (visibility) => sql`select id from projects
      where archived = ${w.archived} and visibility = ${sql.lit(visibility)} and not deleting`,
  )
  return {
    test: sql`(projects.visibility in ${openTo(given)} or exists (select 1 from project_authorizations t
      where t.user_id = ${w.seen_by} and t.project_id = projects.id))`,
    set: sql`${sql.join(sets, sql` union all `)} union all
      select project_id from project_authorizations where user_id = ${w.seen_by}`,
  }
}

type Query<O> = SelectQueryBuilder<Tables, 'projects', O>

/** The first set is gathered, all else is tested: two sets at once are more work than one and a test. */
function narrow<O>(query: Query<O>, w: Wanted, given: Given<Wanted>, db: Db, way: { walked: boolean }): Query<O> {
  const asked = conditions.filter(({ needs }) => given(needs)).map(({ of }) => of(w, given, db))
  if (given('seen_by')) asked.push(visible(w, given))
  const gathered = way.walked ? undefined : asked.find(({ set }) => set)
  const tests = [
    ...facetTests(w, given, gathered && ((name) => unindexed(db, name))),
    ...rangeTests(w, given),
    ...asked.map((one) => (one === gathered ? sql<boolean>`projects.id in (${one.set})` : one.test)),
  ]
  return query.where(sql<boolean>`${sql.join(tests, sql` and `)}`)
}

type PageWanted = Wanted & { walked: true | undefined; limit: number; offset: number }

export const pageOfProjects = hotQuery<PageWanted, Project>((db, w, given) => {
  const walked = given('walked')
  const query = narrow(db.selectFrom('projects').selectAll('projects'), w, given as Given<Wanted>, db, { walked })
  const isGiven = given as (name: string) => boolean
  const order = PROJECT_ORDERS.find((name) => isGiven(`by ${name} asc`) || isGiven(`by ${name} desc`))!
  const way = isGiven(`by ${order} asc`) ? 'asc' : 'desc'
  return query
    .$if(order !== 'id' && order !== 'created_at', (query) => query.orderBy(ordered(db, order), way))
    .orderBy('projects.id', way)
    .limit(w.limit)
    .offset(w.offset)
})

/** Ids are given in the order of creation, so the two are one. */
const ordered = (db: Db, order: ProjectOrder): RawBuilder<unknown> =>
  sql.raw(order === 'name' || order === 'path' ? binaryText(db, order) : order)

const countOf = hotQuery<Wanted, { total: number }>((db, w, given) =>
  narrow(db.selectFrom('projects').select(sql<number>`count(*)`.as('total')), w, given, db, { walked: false }),
)

/** Adds up facets: of everything, or of what is open to the viewer. */
const openTotal = hotQuery<Wanted, { total: number }>((db, w, given) => {
  const tests = facetTests(w, given)
  if (given('seen_by')) tests.push(sql`projects.visibility in ${openTo(given)}`)
  return db
    .selectFrom(sql<Tables['projects']>`projects_facets`.as('projects'))
    .select(sql<number>`coalesce(sum(total), 0)`.as('total'))
    .where(sql<boolean>`${sql.join(tests, sql` and `)}`)
})

/** What the viewer sees by membership alone. */
const closedTotal = hotQuery<Wanted, { total: number }>((db, w, given) =>
  db
    .selectFrom('project_authorizations as mine')
    .innerJoin('projects', 'projects.id', 'mine.project_id')
    .select(sql<number>`count(*)`.as('total'))
    .where('mine.user_id', '=', w.seen_by!)
    .where(sql<boolean>`projects.visibility not in ${openTo(given)}`)
    .where(
      sql<boolean>`${sql.join(
        facetTests(w, given, (name) => unindexed(db, name)),
        sql` and `,
      )}`,
    ),
)

async function totalOf(db: Db, wanted: Wanted): Promise<number> {
  const byActivity = wanted.active_after !== undefined || wanted.active_before !== undefined
  const subjects = byActivity ? [...COUNTED, 'project_activity'] : COUNTED
  const kept = (name: string, count: typeof countOf) =>
    keptTotal(db, subjects, `projects ${name} ${shapeOf(wanted)} ${JSON.stringify(wanted)}`, async () =>
      Number((await count(db, wanted))[0]!.total),
    )
  const byFacets = Object.keys(wanted).every((name) => FACETS.has(name) || OF_VIEWER.has(name))
  if (!byFacets) return kept('all', countOf)
  const open = Number((await openTotal(db, wanted))[0]!.total)
  return wanted.seen_by ? open + (await kept('closed', closedTotal)) : open
}
