import { sql } from 'kysely'
import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { NoAccess, Owner } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { contains, longList, searchFor, type Search } from '../../../store/lists.ts'
import { withUsers } from '../users/queries.ts'
import type { LoadedNamespace } from './entity.ts'
import { eachWayInto } from './grants.ts'
import { namespacePolicy, type NamespaceSubject } from './policy.ts'

type Namespace = Row<'namespaces'>

const fullPath = sql<string>`lower(full_path)`

/** The namespace itself and all below it. */
export const treeOf = (db: Db, id: number) =>
  db.selectFrom('namespace_ancestors').select('namespace_id').where('ancestor_id', '=', id)

/** The number of levels above a namespace, and below it. */
export async function depthOf(db: Db, id: number): Promise<{ above: number; below: number }> {
  const ends = db.selectFrom('namespace_ancestors').select((eb) => eb.fn.max('depth').as('depth'))
  const { depth: above } = await ends.where('namespace_id', '=', id).executeTakeFirstOrThrow()
  const { depth: below } = await ends.where('ancestor_id', '=', id).executeTakeFirstOrThrow()
  return { above, below }
}

/** All digits are an id, never a path. */
async function findNamespace(db: Db, given: string): Promise<Namespace | null> {
  const namespaces = db.selectFrom('namespaces').selectAll().where('deleting', '=', false)
  const isId = /^\d+$/.test(given)
  // An id beyond the safe integers cannot exist.
  if (isId && !Number.isSafeInteger(Number(given))) return null
  const query = isId ? namespaces.where('id', '=', Number(given)) : namespaces.where(fullPath, '=', given.toLowerCase())
  return (await query.executeTakeFirst()) ?? null
}

export const namespace = resource({
  name: 'Namespace',
  params: z.object({ id: text }),
  policy: namespacePolicy,
  async find(app, { id }, viewer) {
    const found = await findNamespace(app.db, id)
    return found && loadNamespaceSubject(app.db, found, viewer)
  },
})

async function loadNamespaceSubject(db: Db, namespace: Namespace, viewer: User | null): Promise<NamespaceSubject> {
  const levels = await levelsIn(db, viewer, [namespace.id])
  return { namespace, viewer, level: levels.get(namespace.id) ?? NoAccess }
}

const levelsOf = hotQuery((db, p: { user_id: number; namespaces: string }) =>
  db
    .selectFrom(
      sql<{ namespace_id: number; access_level: number }>`(${eachWayInto(
        ({ from, level }) => sql`select a.namespace_id, ${level} as access_level from ${from}
          where m.user_id = ${p.user_id} and ${inIdList(db, 'a.namespace_id', p.namespaces)}`,
      )})`.as('granted'),
    )
    .select('granted.namespace_id')
    .select((eb) => eb.fn.max('granted.access_level').as('level'))
    .groupBy('granted.namespace_id'),
)

/** Levels from memberships and shares. The policy grants administrators their access. */
async function levelsIn(db: Db, viewer: User | null, namespaces: readonly number[]): Promise<Map<number, number>> {
  if (!viewer || namespaces.length === 0) return new Map()
  const rows = await levelsOf(db, { user_id: viewer.id, namespaces: idList(db, namespaces) })
  return new Map(rows.map(({ namespace_id, level }) => [namespace_id, Number(level)]))
}

const memberCounts = hotQuery((db, p: { groups: string }) =>
  db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('members as m', 'm.group_id', 'a.namespace_id')
    .innerJoin('namespaces as n', 'n.id', 'a.namespace_id')
    .select(['a.ancestor_id', sql<number>`count(distinct m.user_id)`.as('members')])
    .where(inIdList(db, 'a.ancestor_id', p.groups))
    .where('n.deleting', '=', false)
    .groupBy('a.ancestor_id'),
)

export async function loadNamespaces(
  db: Db,
  viewer: User,
  namespaces: readonly Namespace[],
): Promise<LoadedNamespace[]> {
  const owned = await withUsers(db, namespaces, { owner: 'owner_id' })
  const members = await countMembers(db, viewer, namespaces)
  return owned.map((row) => ({ ...row, members: members.get(row.id) ?? null }))
}

/** Counts only the groups whose member count the viewer may see. */
async function countMembers(db: Db, viewer: User, namespaces: readonly Namespace[]): Promise<Map<number, number>> {
  const groups = namespaces.filter(({ kind }) => kind === 'group')
  const levels = await levelsIn(
    db,
    viewer,
    groups.map(({ id }) => id),
  )
  const ids = groups
    .filter((namespace) =>
      namespacePolicy.countMembers({ namespace, viewer, level: levels.get(namespace.id) ?? NoAccess }),
    )
    .map(({ id }) => id)
  const counts = ids.length > 0 ? await memberCounts(db, { groups: idList(db, ids) }) : []
  const known = new Map(counts.map(({ ancestor_id, members }) => [ancestor_id, Number(members)]))
  return new Map(ids.map((id) => [id, known.get(id) ?? 0]))
}

export interface NamespaceFilter {
  search?: string | null
  owned_only?: boolean | null
  top_level_only?: boolean | null
}

/** By id, oldest first. */
export function listNamespaces(
  db: Db,
  viewer: User,
  filter: NamespaceFilter,
  page: PageRequest,
): Promise<Page<Namespace>> {
  const { like, substring } = searchFor(db, filter.search)
  const values: Filter = {
    ...(substring !== undefined ? { substring } : like !== undefined && { like }),
    ...(!viewer.admin && !filter.owned_only && { member_id: viewer.id }),
    ...(filter.owned_only && { owner_id: viewer.id }),
    ...(filter.top_level_only && { top_level_only: true }),
  }
  return namespaces(db, values, page)
}

/** A search has either a text for the index or a text that is too short for the index. */
interface Filter extends Search {
  /** The owner of the personal namespace, or a direct member of the group. */
  member_id?: number
  /** The same, but for groups only owners. */
  owner_id?: number
  top_level_only?: true
}

const namespaces = longList<Filter, 'namespaces', 'id'>({
  table: 'namespaces',
  facets: true,
  counted: ['namespaces'],
  always: () => [sql`not namespaces.deleting`],
  conditions: {
    member_id: { set: (values) => belongingTo(values.member_id!, NoAccess), counted: ['members'] },
    owner_id: { set: (values) => belongingTo(values.owner_id!, Owner), counted: ['members'] },
    substring: { search: ['name', 'path'] },
    like: contains('namespaces', ['name', 'path']),
    top_level_only: { test: (_, { hidden }) => sql`${hidden('parent_id')} is null` },
  },
  orders: { id: null },
  usual: () => ['id', 'asc'],
})

const belongingTo = (user: number, level: number) =>
  sql<number>`select id from namespaces where owner_id = ${user} union all
    select group_id from members where user_id = ${user} and group_id is not null
    and access_level >= ${sql.lit(level)}`

const SUGGESTIONS_TRIED = 100

export interface PathOptions {
  path: string
  parent_id?: number | null
}

/**
 * Whether a path is taken, at the top level or in a parent that the viewer can see, and the first free path like it.
 */
export async function lookUpPath(app: App, viewer: User, { path, parent_id }: PathOptions) {
  const parent = parent_id ? await findNamespace(app.db, String(parent_id)) : null
  const subject = parent && (await loadNamespaceSubject(app.db, parent, viewer))
  if (parent_id && !(subject && namespacePolicy.read(subject))) throw notFound('Namespace')

  const candidates = [path, ...Array.from({ length: SUGGESTIONS_TRIED }, (_, n) => `${path}${n + 1}`)]
  const taken = await takenPaths(app.db, parent, candidates)
  const isTaken = (candidate: string) => taken.has(candidate.toLowerCase())
  const free = candidates.find((candidate) => !isTaken(candidate))
  return { exists: isTaken(path), suggests: isTaken(path) && free ? [free] : [] }
}

/**
 * In lower case. Groups and projects of one parent share its paths; records that are being deleted still occupy theirs.
 */
async function takenPaths(db: Db, parent: Namespace | null, candidates: readonly string[]): Promise<Set<string>> {
  const prefix = parent ? `${parent.full_path.toLowerCase()}/` : ''
  const paths = candidates.map((candidate) => candidate.toLowerCase())
  const namespaces = await db
    .selectFrom('namespaces')
    .select(fullPath.as('full_path'))
    .where(
      fullPath,
      'in',
      paths.map((one) => prefix + one),
    )
    .execute()
  const projects = parent
    ? await db
        .selectFrom('projects')
        .select(sql<string>`lower(path)`.as('path'))
        .where('namespace_id', '=', parent.id)
        .where(sql<string>`lower(path)`, 'in', paths)
        .execute()
    : []
  return new Set([
    ...namespaces.map(({ full_path }) => full_path.slice(prefix.length)),
    ...projects.map((project) => project.path),
  ])
}

export async function personalNamespaceId(db: Db, user: number): Promise<number> {
  const query = db.selectFrom('namespaces').select('id').where('owner_id', '=', user)
  return (await query.executeTakeFirstOrThrow()).id
}
