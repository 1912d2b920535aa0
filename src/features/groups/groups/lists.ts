/** Lists of groups. */
import { sql } from 'kysely'
import { DAY } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Owner, levelWithin, type Visibility } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { binaryText, idList, inIdList } from '../../../store/dialect.ts'
import { contains, longList, searchFor, type Condition, type Search } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import {
  attributeFilter,
  hasAttributes,
  type AttributeOptions,
  type AttributeFilter,
} from '../../identity/custom-attributes.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'
import type { Group } from './queries.ts'

/** Without a search text, similarity sorts by name. */
export const GROUP_ORDERS = ['name', 'path', 'id', 'similarity'] as const
type GroupOrder = (typeof GROUP_ORDERS)[number]

export interface GroupFilter extends AttributeOptions {
  skip_groups?: readonly number[] | null | undefined
  all_available?: boolean | null | undefined
  search?: string | null | undefined
  visibility?: Visibility | null | undefined
  owned?: boolean | null | undefined
  min_access_level?: number | null | undefined
  top_level_only?: boolean | null | undefined
  order_by?: GroupOrder | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  /** Also groups in the bin, for their owners and for administrators. */
  include_pending_delete?: boolean | null | undefined
  /** Only groups in the bin. */
  only_pending_delete?: boolean | null | undefined
  /** Only groups that were deleted on this day. */
  marked_for_deletion_on?: string | null | undefined
  /** Directly in this group, or anywhere below it. */
  parent?: number
  ancestor?: number
  /** Neither this group nor any of its subgroups. */
  outside?: number
}

/** The values of a list's conditions; an absent value adds no condition. */
interface Filter extends Search, AttributeFilter {
  visibility?: Visibility
  /** A group is listed if any of these three applies; without them all groups are listed. */
  of_user?: number
  public_too?: true
  internal_too?: true
  owner?: number
  member?: number
  at_least?: number
  top?: true
  parent?: number
  ancestor?: number
  outside?: number
  skipped?: string
  /** For the bin only. */
  binned?: true
  deleted_from?: string
  deleted_until?: string
}

function valuesOf(db: Db, viewer: User | null, filter: GroupFilter): Filter {
  const { min_access_level: level, skip_groups: skipped } = filter
  return {
    ...(filter.visibility && { visibility: filter.visibility }),
    // Members always see their groups.
    ...(!filter.owned && !level && seenBy(viewer, filter.all_available)),
    ...(viewer && filter.owned && { owner: viewer.id }),
    ...(viewer && level && { member: viewer.id, at_least: levelWithin(level) }),
    ...(filter.top_level_only && { top: true }),
    ...(filter.parent !== undefined && { parent: filter.parent }),
    ...(filter.ancestor !== undefined && { ancestor: filter.ancestor }),
    ...(filter.outside !== undefined && { outside: filter.outside }),
    ...(skipped && skipped.length > 0 && { skipped: idList(db, skipped) }),
    ...attributeFilter(viewer, filter),
    ...searchFor(db, filter.search),
  }
}

/**
 * The viewer's own groups, and all visible groups only on request. Administrators see all groups unless they decline.
 */
function seenBy(viewer: User | null, all: boolean | null | undefined): Filter {
  if (!viewer) return { public_too: true }
  if (viewer.admin) return all === false ? { of_user: viewer.id } : {}
  return {
    of_user: viewer.id,
    ...(all && { public_too: true }),
    ...(all && openVisibilities(viewer).includes('internal') && { internal_too: true }),
  }
}

const byText = (column: string) => (db: Db) => sql.raw(binaryText(db, column))

const conditions: { [name in keyof Filter]?: Condition<Filter> } = {
  owner: {
    set: (w) => sql`select group_id from members
      where user_id = ${w.owner} and group_id is not null and access_level = ${sql.lit(Owner)}`,
    counted: ['members'],
  },
  member: {
    set: (w) =>
      eachWayInto(
        ({ from, level }) => sql<number>`select a.namespace_id from ${from}
          where m.user_id = ${w.member} and ${level} >= ${w.at_least}`,
      ),
    counted: ['members', 'group_shares'],
  },
  parent: {
    test: (w, { hidden }) => sql`${hidden('parent_id')} = ${w.parent}`,
    set: (w) => sql`select id from namespaces where parent_id = ${w.parent}`,
  },
  ancestor: {
    set: (w) => sql`select namespace_id from namespace_ancestors where ancestor_id = ${w.ancestor} and depth > 0`,
  },
  outside: {
    test: (w) => sql`namespaces.id not in
      (select namespace_id from namespace_ancestors where ancestor_id = ${w.outside})`,
  },
  attributes: hasAttributes('namespaces', 'group_id'),
  like: contains('namespaces', ['name', 'path']),
  visibility: { facet: true, test: (w) => sql`namespaces.visibility = ${w.visibility}` },
  top: { test: (_, { hidden }) => sql`${hidden('parent_id')} is null` },
  skipped: { test: (w, { db }) => sql`not ${inIdList(db, 'namespaces.id', w.skipped!)}` },
}

const orders = { name: byText('name'), path: byText('path'), id: null, similarity: byText('name') }

const groups = longList<Filter, 'namespaces', GroupOrder>({
  table: 'namespaces',
  many: 500,
  facets: true,
  counted: ['namespaces'],
  always: (_, { column }) => [sql`${column('kind')} = 'group'`, sql`not namespaces.deleting`],
  conditions,
  visible: {
    open: {
      needs: 'public_too',
      test: (_, { given }) =>
        sql`namespaces.visibility in ${sql.raw(given('internal_too') ? "('public', 'internal')" : "('public')")}`,
    },
    own: {
      needs: 'of_user',
      set: (w) => groupsOfUser(w.of_user!),
      counted: ['members', 'group_shares', 'project_shares', 'project_authorizations', 'projects'],
    },
  },
  orders,
  usual: () => ['name', 'asc'],
})

/** The groups in the bin. They are few, so all of them are gathered and then tested. */
const binnedGroups = longList<Filter, 'namespaces', GroupOrder>({
  table: 'namespaces',
  many: Infinity,
  counted: ['namespaces'],
  conditions: {
    binned: {
      test: () => sql`namespaces.marked_for_deletion_at is not null`,
      set: () => sql`select id from namespaces where marked_for_deletion_at is not null`,
    },
    deleted_from: { test: (w) => sql`namespaces.marked_for_deletion_at >= ${w.deleted_from}` },
    deleted_until: { test: (w) => sql`namespaces.marked_for_deletion_at < ${w.deleted_until}` },
    ...conditions,
  },
  orders,
  usual: () => ['name', 'asc'],
})

const isBinOnly = (filter: GroupFilter): boolean =>
  Boolean(filter.only_pending_delete) || Boolean(filter.marked_for_deletion_on)

/** Null if nobody asks for the bin, or if the viewer cannot own a group in it. */
function binFilter(db: Db, viewer: User | null, filter: GroupFilter): Filter | null {
  if (!(filter.include_pending_delete || isBinOnly(filter)) || viewer?.state !== 'active') return null
  const {
    of_user: _of,
    public_too: _public,
    internal_too: _internal,
    substring: _sub,
    ...values
  } = valuesOf(db, viewer, filter)
  const day = filter.marked_for_deletion_on
  return {
    ...values,
    binned: true,
    ...(!viewer.admin && { member: viewer.id, at_least: Owner }),
    ...(day && { deleted_from: `${day}T00:00:00.000Z`, deleted_until: dayAfter(day) }),
  }
}

const dayAfter = (day: string) => new Date(Date.parse(day) + DAY).toISOString()

export const pageOfGroups = groups.page

/** Groups in the bin, if they are asked for, come before the others. */
export async function listGroups(
  { db }: App,
  viewer: User | null,
  filter: GroupFilter,
  page: Cut,
): Promise<Page<Group>> {
  // Visitors have no memberships.
  if (!viewer && (filter.owned || filter.min_access_level)) return { items: [], total: 0 }
  const binned = binFilter(db, viewer, filter)
  const bin = binned ? await binnedGroups(db, binned, page, filter) : { items: [], total: 0 }
  if (isBinOnly(filter)) return bin
  const rest = { limit: page.limit - bin.items.length, offset: Math.max(0, page.offset - bin.total) }
  const values = valuesOf(db, viewer, filter)
  const { items, total } = await groups(db, values, rest.limit === 0 ? { ...rest, limit: 1 } : rest, filter)
  return { items: [...bin.items, ...items.slice(0, rest.limit)], total: bin.total + total }
}

/** Groups in which the viewer has at least this level; administrators have it everywhere. */
export const listGroupsWithLevel = (
  app: App,
  viewer: User,
  level: number,
  filter: GroupFilter,
  page: Cut,
): Promise<Page<Group>> =>
  listGroups(app, viewer, { ...filter, ...(!viewer.admin && { min_access_level: level }) }, page)
