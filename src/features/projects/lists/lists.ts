/** Lists of projects. */
import { sql, type RawBuilder } from 'kysely'
import { DAY } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, Owner, levelWithin, type Visibility } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { binaryText, matchingIds } from '../../../store/dialect.ts'
import { hotQuery, type IsGiven } from '../../../store/hot.ts'
import { contains, leading, longList, searchFor, type At, type Condition, type Search } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import {
  attributeFilter,
  hasAttributes,
  type AttributeOptions,
  type AttributeFilter,
} from '../../identity/custom-attributes.ts'

export const PROJECT_ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const
export type ProjectOrder = (typeof PROJECT_ORDERS)[number]

export interface ProjectFilter extends AttributeOptions {
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
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
  /** Projects that are not archived. */
  active?: boolean | null | undefined
  /** Projects that the viewer imported. */
  imported?: boolean | null | undefined
  /** The search text may also match the path of the namespace. */
  search_namespaces?: boolean | null | undefined
  topic_id?: number | null | undefined
  repository_storage?: string | null | undefined
  with_programming_language?: string | null | undefined
  /** Also projects in the bin, for their owners and for administrators. */
  include_pending_delete?: boolean | null | undefined
  /** Only projects in the bin. */
  only_pending_delete?: boolean | null | undefined
  /** Only projects that were deleted on this day. */
  marked_for_deletion_on?: string | null | undefined
  order_by?: ProjectOrder | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  /** Projects of one namespace. */
  namespace_id?: number
  /** Forks of one project. */
  forked_from_id?: number
  /** Projects that this user has starred. The viewer may be another user. */
  starred_by?: number
  /** Projects of a group, optionally with those of its subgroups and those shared with it. */
  group?: { id: number; include_subgroups?: boolean | null | undefined; with_shared?: boolean | null | undefined }
  /** Projects shared with this group. */
  shared_with?: number
}

/** The values of the list's conditions. An absent field means no condition. */
interface Filter extends Search, AttributeFilter {
  archived: boolean
  visibility?: Visibility
  issues?: true
  merge_requests?: true
  /** Absent for administrators, who see everything. 0 for anonymous visitors. */
  seen_by?: number
  internal_too?: true
  member?: number
  at_least?: number
  owner?: number
  starred_by?: number
  topic?: string
  topic_id?: number
  importer?: number
  storage?: string
  language?: string
  /** Like `like`, for the name or the full path. */
  within?: string
  namespace?: number
  source?: number
  group?: number
  subgroups?: true
  shared?: true
  shared_with?: number
  id_after?: number
  id_before?: number
  active_after?: string
  active_before?: string
  updated_after?: string
  updated_before?: string
  /** For the bin only. */
  binned?: true
  /** The viewer, unless they are an administrator. */
  owned_by?: number
  deleted_from?: string
  deleted_until?: string
  is_archived?: boolean
}

function valuesOf(db: Db, viewer: User | null, filter: ProjectFilter): Filter {
  const { group } = filter
  return {
    archived: typeof filter.active === 'boolean' ? !filter.active : (filter.archived ?? false),
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
    ...(filter.topic_id && { topic_id: filter.topic_id }),
    ...(filter.imported && { importer: viewer?.id ?? 0 }),
    ...(filter.repository_storage && { storage: filter.repository_storage }),
    ...(filter.with_programming_language && { language: filter.with_programming_language }),
    ...attributeFilter(viewer, filter),
    ...(filter.search_namespaces ? searchWithinPaths(db, filter.search) : searchFor(db, filter.search)),
    ...(filter.namespace_id !== undefined && { namespace: filter.namespace_id }),
    ...(filter.forked_from_id !== undefined && { source: filter.forked_from_id }),
    ...(filter.shared_with !== undefined && { shared_with: filter.shared_with }),
    ...(group && { group: group.id }),
    ...(group?.include_subgroups && { subgroups: true }),
    ...(group?.with_shared && { shared: true }),
    ...(typeof filter.id_after === 'number' && { id_after: filter.id_after }),
    ...(typeof filter.id_before === 'number' && { id_before: filter.id_before }),
    ...(filter.last_activity_after && { active_after: filter.last_activity_after }),
    ...(filter.last_activity_before && { active_before: filter.last_activity_before }),
    ...(filter.updated_after && { updated_after: filter.updated_after }),
    ...(filter.updated_before && { updated_before: filter.updated_before }),
  }
}

function seenBy(
  viewer: User | null,
  requested: Visibility | null,
): Pick<Filter, 'seen_by' | 'internal_too' | 'member'> {
  const active = viewer?.state === 'active'
  if (active && viewer.admin) return {}
  // Blocked users keep their memberships, but the memberships grant nothing.
  const seer = active ? viewer.id : 0
  const open = openVisibilities(viewer)
  if (requested && open.includes(requested)) return {}
  if (requested) return { member: seer }
  return { seen_by: seer, ...(open.includes('internal') && { internal_too: true }) }
}

/** A time range. It uses the index of its column, unless the list already walks another index. */
function within(
  column: 'last_activity_at' | 'updated_at',
  than: '>=' | '<=',
  value: keyof Filter,
  counted: string,
): Condition<Filter> {
  return {
    test: (w, at) => sql`${leading(at, column)} ${sql.raw(than)} ${w[value]}`,
    set: (w) =>
      sql`select id from projects where archived = ${w.archived} and ${sql.ref(column)} ${sql.raw(than)} ${w[value]}`,
    counted: [counted],
  }
}

const conditions: { [name in keyof Filter]?: Condition<Filter> } = {
  member: {
    test: (w, at) => sql`exists (select 1 from project_authorizations t where t.user_id = ${w.member}
      and t.project_id = projects.id ${atLeast(w, at)})`,
    set: (w, at) => sql`select project_id from project_authorizations where user_id = ${w.member} ${atLeast(w, at)}`,
    counted: ['project_authorizations'],
  },
  /** Projects of the viewer's own namespace and of groups that the viewer owns directly. */
  owner: {
    test: (w, { hidden }) => sql`${hidden('namespace_id')} in (${ownNamespaces(w)})`,
    set: (w) => sql`select p.id from projects p where p.namespace_id in (${ownNamespaces(w)})`,
    counted: ['members'],
  },
  starred_by: {
    test: (w) => sql`exists (select 1 from stars t where t.user_id = ${w.starred_by} and t.project_id = projects.id)`,
    set: (w) => sql`select project_id from stars where user_id = ${w.starred_by}`,
    counted: ['stars'],
  },
  topic: {
    test: (w) => sql`exists (select 1 from project_topics t
      where t.project_id = projects.id and lower(t.name) = lower(${w.topic}))`,
    set: (w) => sql`select project_id from project_topics where lower(name) = lower(${w.topic})`,
    counted: ['project_topics'],
  },
  topic_id: {
    test: (w) => sql`exists (select 1 from project_topics t
      where t.project_id = projects.id and lower(t.name) = (${findTopicByName(w)}))`,
    set: (w) => sql`select project_id from project_topics where lower(name) = (${findTopicByName(w)})`,
    counted: ['project_topics'],
  },
  importer: {
    test: (w, { hidden }) => sql`projects.import_url is not null and ${hidden('creator_id')} = ${w.importer}`,
    set: (w) => sql`select id from projects where creator_id = ${w.importer} and import_url is not null`,
    counted: ['project_origins'],
  },
  language: {
    test: (w) => sql`exists (select 1 from project_languages l
      where l.project_id = projects.id and lower(l.name) = lower(${w.language}))`,
    set: (w) => sql`select project_id from project_languages where lower(name) = lower(${w.language})`,
    counted: ['project_languages'],
  },
  attributes: hasAttributes('projects', 'project_id'),
  like: contains('projects', ['name', 'path']),
  within: {
    test: (w) => isWithinPath(w, 'projects'),
    set: (w, at) => (at.given('substring') ? withinPath(w, at) : undefined),
    counted: ['namespaces'],
  },
  namespace: {
    test: (w, { hidden }) => sql`${hidden('namespace_id')} = ${w.namespace}`,
    set: (w) => sql`select id from projects where namespace_id = ${w.namespace}`,
  },
  source: {
    test: (w, { hidden }) => sql`${hidden('forked_from_id')} = ${w.source}`,
    set: (w) => sql`select id from projects where forked_from_id = ${w.source}`,
  },
  group: {
    test(w, { given, hidden }) {
      const inside = sql<boolean>`${hidden('namespace_id')} in (${namespacesIn(w, given)})`
      return given('shared') ? sql`(${inside} or projects.id in (${sharesWith(w.group!)}))` : inside
    },
    set(w, { given }) {
      const inside = sql<number>`select id from projects where namespace_id in (${namespacesIn(w, given)})`
      return given('shared') ? sql`${inside} union ${sharesWith(w.group!)}` : inside
    },
    counted: ['project_shares', 'namespaces'],
  },
  shared_with: {
    test: (w) => sql`projects.id in (${sharesWith(w.shared_with!)})`,
    set: (w) => sharesWith(w.shared_with!),
    counted: ['project_shares'],
  },
  storage: {
    test: (w, { hidden }) => sql`${hidden('repository_storage')} = ${w.storage}`,
    set: (w) => sql`select id from projects where repository_storage = ${w.storage}`,
    counted: ['project_origins'],
  },
  archived: { facet: true, test: (w, { column }) => sql`${column('archived')} = ${w.archived}` },
  visibility: { facet: true, test: (w, { column }) => sql`${column('visibility')} = ${w.visibility}` },
  issues: { facet: true, test: () => sql`projects.issues_access_level > ${sql.lit(FeatureDisabled)}` },
  merge_requests: {
    facet: true,
    test: () => sql`projects.merge_requests_access_level > ${sql.lit(FeatureDisabled)}`,
  },
  id_after: { test: (w) => sql`projects.id > ${w.id_after}` },
  id_before: { test: (w) => sql`projects.id < ${w.id_before}` },
  active_after: within('last_activity_at', '>=', 'active_after', 'project_activity'),
  active_before: within('last_activity_at', '<=', 'active_before', 'project_activity'),
  updated_after: within('updated_at', '>=', 'updated_after', 'project_updates'),
  updated_before: within('updated_at', '<=', 'updated_before', 'project_updates'),
}

const orders: Record<ProjectOrder, ((db: Db) => RawBuilder<unknown>) | null> = {
  id: null,
  // Ids increase with the creation time, so both orders are the same.
  created_at: null,
  name: (db) => sql.raw(binaryText(db, 'name')),
  path: (db) => sql.raw(binaryText(db, 'path')),
  updated_at: () => sql.ref('updated_at'),
  last_activity_at: () => sql.ref('last_activity_at'),
}

const projects = longList<Filter, 'projects', ProjectOrder, 'id'>({
  table: 'projects',
  // The list returns ids; the records are built from what `versions.ts` reads.
  columns: ['id'],
  facets: true,
  counted: ['projects'],
  always: () => [sql`not projects.deleting`],
  conditions,
  visible: {
    open: {
      needs: 'seen_by',
      test: (_, { given }) => sql`projects.visibility in (${sql.join(openTo(given))})`,
    },
    own: {
      needs: 'seen_by',
      test: (w) => sql`exists (select 1 from project_authorizations t
        where t.user_id = ${w.seen_by} and t.project_id = projects.id)`,
      set: authorizedTo,
      counted: ['project_authorizations'],
    },
    set(w, { given }) {
      const open = openTo(given).map(
        (visibility) => sql`select id from projects
          where archived = ${w.archived} and visibility = ${visibility} and not deleting`,
      )
      return sql`${sql.join([...open, authorizedTo(w)], sql` union all `)}`
    },
  },
  orders,
  usual: () => ['created_at', 'desc'],
})

/** The projects in the bin. They are few, so all of them are gathered and then tested. */
const binnedProjects = longList<Filter, 'projects', ProjectOrder, 'id'>({
  table: 'projects',
  columns: ['id'],
  many: Infinity,
  counted: ['projects', 'project_updates'],
  conditions: {
    binned: {
      test: () => sql`projects.marked_for_deletion_at is not null`,
      set: () => sql`select id from projects where marked_for_deletion_at is not null`,
    },
    owned_by: {
      test: (w) => sql`exists (select 1 from project_authorizations t where t.user_id = ${w.owned_by}
        and t.project_id = projects.id and t.access_level >= ${sql.lit(Owner)})`,
      counted: ['project_authorizations'],
    },
    deleted_from: { test: (w) => sql`projects.marked_for_deletion_at >= ${w.deleted_from}` },
    deleted_until: { test: (w) => sql`projects.marked_for_deletion_at < ${w.deleted_until}` },
    is_archived: { test: (w) => sql`projects.archived = ${w.is_archived}` },
    ...conditions,
    // Both kinds, unless one is asked for.
    archived: { test: () => sql`1 = 1` },
  },
  orders,
  usual: () => ['created_at', 'desc'],
})

/** Null if nobody asks for the bin, or if the viewer cannot own a project in it. */
function binFilter(db: Db, viewer: User | null, filter: ProjectFilter): Filter | null {
  if (!asksForBin(filter) || viewer?.state !== 'active') return null
  const { seen_by: _seen, internal_too: _internal, substring: _substring, ...values } = valuesOf(db, viewer, filter)
  const archived = typeof filter.active === 'boolean' ? !filter.active : filter.archived
  const day = filter.marked_for_deletion_on
  return {
    ...values,
    binned: true,
    ...(!viewer.admin && { owned_by: viewer.id }),
    ...(day && { deleted_from: `${day}T00:00:00.000Z`, deleted_until: dayAfter(day) }),
    ...(typeof archived === 'boolean' && { is_archived: archived }),
  }
}

const dayAfter = (day: string) => new Date(Date.parse(day) + DAY).toISOString()

export const asksForBin = (filter: ProjectFilter): boolean =>
  Boolean(filter.include_pending_delete) || isBinOnly(filter)

const isBinOnly = (filter: ProjectFilter): boolean =>
  Boolean(filter.only_pending_delete) || Boolean(filter.marked_for_deletion_on)

function findTopicByName({ topic_id }: Filter): RawBuilder<string> {
  return sql`select lower(name) from topics where id = ${topic_id}`
}

/** Searches the longest path segment by index, and tests the full text on the few matches. */
function searchWithinPaths(db: Db, text: string | null | undefined): Pick<Filter, 'within' | 'substring'> {
  const [longest] = (text ?? '').split('/').toSorted((one, other) => other.length - one.length)
  const { like: within } = searchFor(db, text)
  const { substring } = searchFor(db, longest)
  return { ...(within && { within }), ...(within && substring && { substring }) }
}

function isWithinPath({ within: like }: Filter, projects: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${projects}.${column}`)
  return sql`coalesce(lower(${of('name')}) like lower(${like}) escape '\\' or lower(
    (select n.full_path from namespaces n where n.id = ${of('namespace_id')}) || '/' || ${of('path')})
    like lower(${like}) escape '\\', false)`
}

function withinPath(w: Filter, { db }: At<Filter>): RawBuilder<number> {
  const found = (table: 'projects' | 'namespaces') => matchingIds(db, table, ['name', 'path'], w.substring!)
  return sql`select p.id from projects p where ${isWithinPath(w, 'p')} and p.id in (${found('projects')}
    union select b.id from projects b join namespace_ancestors a on a.namespace_id = b.namespace_id
    where a.ancestor_id in (${found('namespaces')}))`
}

function openTo(given: IsGiven<Filter>): RawBuilder<Visibility>[] {
  return (given('internal_too') ? ['public' as const, 'internal' as const] : ['public' as const]).map(sql.lit)
}

function authorizedTo({ seen_by }: Filter): RawBuilder<number> {
  return sql`select project_id from project_authorizations where user_id = ${seen_by}`
}

function atLeast(w: Filter, { given }: At<Filter>): RawBuilder<unknown> {
  return given('at_least') ? sql`and access_level >= ${w.at_least}` : sql``
}

function ownNamespaces({ owner }: Filter): RawBuilder<number> {
  return sql`select id from namespaces where owner_id = ${owner} union all
    select group_id from members where user_id = ${owner} and group_id is not null
    and access_level = ${sql.lit(Owner)}`
}

function namespacesIn({ group }: Filter, given: IsGiven<Filter>): RawBuilder<number> {
  if (!given('subgroups')) return sql`${group}`
  return sql`select namespace_id from namespace_ancestors where ancestor_id = ${group}`
}

function sharesWith(group: number): RawBuilder<number> {
  return sql`select project_id from project_shares where group_id = ${group}`
}

export const pageOfProjects = projects.page

/** In a group with fewer projects, the query reads all of them instead of all projects that match the text. */
const MANY_OF_GROUP = 1000

const someOfGroup = hotQuery<Filter, { found: number }>((db, w, given) =>
  db
    .selectFrom(
      sql<{ id: number }>`(select id from projects where namespace_id in (${namespacesIn(w, given)})
        limit ${sql.lit(MANY_OF_GROUP)})`.as('some'),
    )
    .select(sql<number>`count(*)`.as('found')),
)

/** Projects in the bin, if they are asked for, come before the others. */
export async function listProjects(
  { db }: App,
  viewer: User | null,
  filter: ProjectFilter,
  page: Cut,
): Promise<Page<{ id: number }>> {
  const binned = binFilter(db, viewer, filter)
  const bin = binned ? await binnedProjects(db, binned, page, filter) : { items: [], total: 0 }
  if (isBinOnly(filter)) return bin
  const rest = { limit: page.limit - bin.items.length, offset: Math.max(0, page.offset - bin.total) }
  const { items, total } = await listActive(db, viewer, filter, rest.limit === 0 ? { ...rest, limit: 1 } : rest)
  return { items: [...bin.items, ...items.slice(0, rest.limit)], total: bin.total + total }
}

async function listActive(
  db: Db,
  viewer: User | null,
  filter: ProjectFilter,
  page: Cut,
): Promise<Page<{ id: number }>> {
  const { substring, ...values } = valuesOf(db, viewer, filter)
  const isOfMany = substring !== undefined && (filter.group ? await isLarge(db, values) : true)
  return projects(db, { ...values, ...(isOfMany && { substring }) }, page, filter)
}

async function isLarge(db: Db, values: Filter): Promise<boolean> {
  const [some] = await someOfGroup(db, values)
  return Number(some!.found) === MANY_OF_GROUP
}

/** The next projects by id, without a total, for keyset pagination. */
export async function nextProjects(
  { db }: App,
  viewer: User | null,
  filter: ProjectFilter,
  limit: number,
): Promise<{ id: number }[]> {
  const sort = filter.sort ?? 'desc'
  const binned = binFilter(db, viewer, filter)
  const bin = binned ? await binnedProjects.next(db, binned, sort, limit) : []
  if (isBinOnly(filter)) return bin
  const active = await projects.next(db, valuesOf(db, viewer, filter), sort, limit)
  if (bin.length === 0) return active
  const both = [...bin, ...active].toSorted((one, other) => (sort === 'asc' ? one.id - other.id : other.id - one.id))
  return both.slice(0, limit)
}
