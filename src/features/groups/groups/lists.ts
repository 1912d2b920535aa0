/**
 * Lists of groups, at the same cost however many groups there are: a page is found by walking an index in the list's
 * order, or, where only a few groups match, by gathering those and sorting them. The total, which is known first,
 * decides.
 */
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { Page } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { Owner, levelWithin, type Visibility } from '../../../lib/levels.ts'
import { keptTotal } from '../../../store/counts.ts'
import type { Db, Tables } from '../../../store/database.ts'
import { SUBSTRING_FROM, binaryText, foundIds, idList, inIdList, substring } from '../../../store/dialect.ts'
import { hotQuery, shapeOf, type Given } from '../../../store/hot.ts'
import type { Cut } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import type { Group } from './queries.ts'

/** Without a text to compare with, similarity is the name's order. */
export const GROUP_ORDERS = ['name', 'path', 'id', 'similarity'] as const

export interface GroupFilter {
  skip_groups?: readonly number[] | null | undefined
  all_available?: boolean | null | undefined
  search?: string | null | undefined
  visibility?: Visibility | null | undefined
  owned?: boolean | null | undefined
  min_access_level?: number | null | undefined
  top_level_only?: boolean | null | undefined
  order_by?: (typeof GROUP_ORDERS)[number] | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  /** Directly in this group, or anywhere below this one. */
  parent?: number
  ancestor?: number
}

/** From here on walking the order comes to a page's end sooner than gathering all matches. */
const MANY = 500

/** Whose changes can alter a total. */
const COUNTED = ['namespaces', 'members', 'project_shares', 'project_authorizations', 'projects']

export async function listGroups(
  { db }: App,
  viewer: User | null,
  filter: GroupFilter,
  { limit, offset }: Cut,
): Promise<Page<Group>> {
  // Visitors have no memberships to go by.
  if (!viewer && (filter.owned || filter.min_access_level)) return { items: [], total: 0 }
  const wanted = wantedBy(db, viewer, filter)
  const total = await totalOf(db, wanted)
  if (offset >= total) return { items: [], total }
  const way: Way = {
    ...(filter.order_by === 'path' && { by_path: true }),
    ...(filter.order_by === 'id' && { by_id: true }),
    ...(filter.sort === 'desc' && { descending: true }),
    ...(total > MANY && { walked: true }),
  }
  return { items: await pageOfGroups(db, { ...wanted, ...way, limit, offset }), total }
}

/** The values of a list's conditions; what is absent is no condition. */
interface Wanted {
  visibility?: Visibility
  /** Any of these three opens a group to the list; without them it is of everything. */
  of_user?: number
  public_too?: true
  internal_too?: true
  owner?: number
  member?: number
  at_least?: number
  top?: true
  parent?: number
  ancestor?: number
  skipped?: string
  like?: string
  substring?: string
}

const BY_FACETS = new Set(['visibility', 'of_user', 'public_too', 'internal_too'])

function wantedBy(db: Db, viewer: User | null, filter: GroupFilter): Wanted {
  const search = filter.search?.trim() ?? ''
  const { min_access_level: level, skip_groups: skipped } = filter
  return {
    ...(filter.visibility && { visibility: filter.visibility }),
    // Whoever is a member sees the group.
    ...(!filter.owned && !level && seenBy(viewer, filter.all_available)),
    ...(viewer && filter.owned && { owner: viewer.id }),
    ...(viewer && level && { member: viewer.id, at_least: levelWithin(level) }),
    ...(filter.top_level_only && { top: true }),
    ...(filter.parent !== undefined && { parent: filter.parent }),
    ...(filter.ancestor !== undefined && { ancestor: filter.ancestor }),
    ...(skipped && skipped.length > 0 && { skipped: idList(db, skipped) }),
    ...(search !== '' && { like: `%${search.replace(/[\\%_]/g, '\\$&')}%` }),
    ...(Array.from(search).length >= SUBSTRING_FROM && { substring: substring(db, search) }),
  }
}

/** One's own groups unless all are asked for; administrators are asked the other way round. */
function seenBy(viewer: User | null, all: boolean | null | undefined): Wanted {
  if (!viewer) return { public_too: true }
  if (viewer.admin) return all === false ? { of_user: viewer.id } : {}
  return {
    of_user: viewer.id,
    ...(all && { public_too: true }),
    ...(all && openVisibilities(viewer).includes('internal') && { internal_too: true }),
  }
}

const isOpen = (given: Given<Wanted>) =>
  sql<boolean>`namespaces.visibility in ${sql.raw(given('internal_too') ? "('public', 'internal')" : "('public')")}`

const facetTests = (w: Wanted, given: Given<Wanted>, gathered = false): RawBuilder<boolean>[] => [
  // Told the kind outright, SQLite walks the whole order even where it has a handful of ids in hand.
  gathered ? sql`namespaces.kind <> 'user'` : sql`namespaces.kind = 'group'`,
  sql`not namespaces.deleting`,
  ...(given('visibility') ? [sql<boolean>`namespaces.visibility = ${w.visibility}`] : []),
]

function visible(w: Wanted, given: Given<Wanted>): RawBuilder<boolean>[] {
  const ways: RawBuilder<boolean>[] = []
  if (given('public_too')) ways.push(isOpen(given))
  if (given('of_user')) ways.push(sql`namespaces.id in (${groupsOfUser(w.of_user!)})`)
  return ways.length === 0 ? [] : [sql`(${sql.join(ways, sql` or `)})`]
}

const conditions: { [name in keyof Wanted]?: (w: Wanted) => RawBuilder<boolean> } = {
  owner: (w) => sql`namespaces.id in (select group_id from members
    where user_id = ${w.owner} and group_id is not null and access_level = ${sql.lit(Owner)})`,
  member: (w) => sql`namespaces.id in (select a.namespace_id from members m
    join namespace_ancestors a on a.ancestor_id = m.group_id
    where m.user_id = ${w.member} and m.access_level >= ${w.at_least})`,
  top: () => sql`namespaces.parent_id is null`,
  parent: (w) => sql`namespaces.parent_id = ${w.parent}`,
  ancestor: (w) => sql`namespaces.id in (select namespace_id from namespace_ancestors
    where ancestor_id = ${w.ancestor} and depth > 0)`,
}

function matching(db: Db, w: Wanted, given: Given<Wanted>, walked: boolean): RawBuilder<boolean>[] {
  if (!given('like')) return []
  if (given('substring') && !walked) {
    return [sql`namespaces.id in (${foundIds(db, 'namespaces', ['name', 'path'], w.substring!)})`]
  }
  // The engine folds both sides: it and JavaScript differ on letters beyond ASCII.
  const like = sql`like lower(${w.like}) escape '\\'`
  return [sql`(lower(namespaces.name) ${like} or lower(namespaces.path) ${like})`]
}

type Query<O> = SelectQueryBuilder<Tables, 'namespaces', O>

const GATHERED = ['owner', 'member', 'parent', 'ancestor', 'substring'] as const

function narrow<O>(query: Query<O>, w: Wanted, given: Given<Wanted>, db: Db, walked = false): Query<O> {
  const asked = Object.entries(conditions).filter(([name]) => given(name as keyof Wanted))
  const isOwn = given('of_user') && !given('public_too')
  const tests = [
    ...facetTests(w, given, !walked && (isOwn || GATHERED.some(given))),
    ...visible(w, given),
    ...asked.map(([, condition]) => condition(w)),
    ...(given('skipped') ? [sql<boolean>`not ${inIdList(db, 'namespaces.id', w.skipped!)}`] : []),
    ...matching(db, w, given, walked),
  ]
  return query.where(sql<boolean>`${sql.join(tests, sql` and `)}`)
}

interface Way {
  by_path?: true
  by_id?: true
  descending?: true
  walked?: true
}

export const pageOfGroups = hotQuery<Wanted & Way & Cut, Group>((db, w, given) => {
  const way = given('descending') ? 'desc' : 'asc'
  const text = sql.raw(binaryText(db, given('by_path') ? 'path' : 'name'))
  return narrow(db.selectFrom('namespaces').selectAll('namespaces'), w, given as Given<Wanted>, db, given('walked'))
    .$if(!given('by_id'), (query) => query.orderBy(text, way))
    .orderBy('namespaces.id', way)
    .limit(w.limit)
    .offset(w.offset)
})

const countOf = hotQuery<Wanted, { total: number }>((db, w, given) =>
  narrow(db.selectFrom('namespaces').select(sql<number>`count(*)`.as('total')), w, given, db),
)

/** Adds up facets: of everything, or of what is open to the viewer. */
const openTotal = hotQuery<Wanted, { total: number }>((db, w, given) => {
  const tests = [...facetTests(w, given), ...(given('public_too') ? [isOpen(given)] : [])]
  return db
    .selectFrom(sql<Tables['namespaces']>`namespaces_facets`.as('namespaces'))
    .select(sql<number>`coalesce(sum(total), 0)`.as('total'))
    .where(sql<boolean>`${sql.join(tests, sql` and `)}`)
})

/** One's own groups that are not open anyway. */
const closedTotal = hotQuery<Wanted, { total: number }>((db, w, given) => {
  const tests = [
    ...facetTests(w, given, true),
    sql<boolean>`namespaces.id in (${groupsOfUser(w.of_user!)})`,
    sql<boolean>`not ${isOpen(given)}`,
  ]
  return db
    .selectFrom('namespaces')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<boolean>`${sql.join(tests, sql` and `)}`)
})

async function totalOf(db: Db, wanted: Wanted): Promise<number> {
  const kept = (name: string, count: typeof countOf) =>
    keptTotal(db, COUNTED, `groups ${name} ${shapeOf(wanted)} ${JSON.stringify(wanted)}`, async () =>
      Number((await count(db, wanted))[0]!.total),
    )
  const isOwn = wanted.of_user !== undefined
  const byFacets = Object.keys(wanted).every((name) => BY_FACETS.has(name)) && (wanted.public_too || !isOwn)
  if (!byFacets) return kept('all', countOf)
  const open = Number((await openTotal(db, wanted))[0]!.total)
  return isOwn ? open + (await kept('closed', closedTotal)) : open
}
