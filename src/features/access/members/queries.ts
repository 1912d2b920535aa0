import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { Owner } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { longList } from '../../../store/lists.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { LoadedMember } from './entity.ts'
import type { SourceColumns } from './model.ts'
import { among, peopleOf, type Addresses, type People, type PeopleFilter } from './people.ts'

type Member = Row<'members'>

const memberOf = hotQuery((db, p: SourceColumns & { user_id: number }, given) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('user_id', '=', p.user_id)
    .$if(given('group_id'), (query) => query.where('group_id', '=', p.group_id))
    .$if(given('project_id'), (query) => query.where('project_id', '=', p.project_id)),
)

/** A direct membership. */
export async function findMember(db: Db, { group_id, project_id }: SourceColumns, user: number) {
  return (await memberOf(db, { group_id, project_id, user_id: user }))[0] ?? null
}

/** Direct members by user id. This is the order of the index, so no page has to sort all members. */
const directMembers = longList<People & Partial<SourceColumns>, 'members', 'user_id'>({
  table: 'members',
  key: 'user_id',
  counted: ['members', 'users'],
  always: (filter, { db, given }) => [
    given('group_id') ? sql`members.group_id = ${filter.group_id}` : sql`members.project_id = ${filter.project_id}`,
    among(db, 'members.user_id', filter, given),
  ],
  orders: { user_id: null },
  usual: () => ['user_id', 'asc'],
})

export function listMembers(
  db: Db,
  at: SourceColumns,
  filter: PeopleFilter,
  page: PageRequest,
  addresses: Addresses,
): Promise<Page<Member>> {
  return directMembers(db, { ...peopleOf(db, filter, addresses), ...at }, page)
}

/** The membership that a level comes from. */
export type Origin = Pick<Member, 'user_id' | 'expires_at' | 'created_at' | 'created_by_id'>

export async function loadMembers(
  db: Db,
  members: readonly (Pick<Member, 'user_id' | 'access_level'> & Partial<Origin>)[],
): Promise<LoadedMember[]> {
  const people = await withUsers(db, members, { user: 'user_id', creator: 'created_by_id' })
  return people.map(({ user, access_level, expires_at = null, created_at = null, creator }) => ({
    user,
    access_level,
    expires_at,
    created_at,
    creator,
  }))
}

/** Whether the group, or one of its ancestors, has another active owner besides this membership. */
export async function hasAnotherOwner(db: Db, { id, group_id }: Pick<Member, 'id' | 'group_id'>): Promise<boolean> {
  const another = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('members as m', 'm.group_id', 'a.ancestor_id')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select('m.id')
    .where('a.namespace_id', '=', group_id)
    .where('m.access_level', '=', Owner)
    .where('m.id', '!=', id)
    .where('u.state', '=', 'active')
    .limit(1)
    .executeTakeFirst()
  return another !== undefined
}

/** Null if the project belongs to a group. */
export async function personalOwnerOf(db: Db, project: number): Promise<number | null> {
  const found = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select('namespaces.owner_id')
    .where('projects.id', '=', project)
    .executeTakeFirst()
  return found?.owner_id ?? null
}

/** Whether an ancestor group locks the memberships of the project. */
export async function isClosed(db: Db, project: number): Promise<boolean> {
  const lock = await db
    .selectFrom('projects as p')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'p.namespace_id')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select('n.id')
    .where('p.id', '=', project)
    .where('n.membership_lock', '=', true)
    .limit(1)
    .executeTakeFirst()
  return lock !== undefined
}

/** A group or project as mail and pages name it. */
export interface SourceName {
  readonly kind: 'group' | 'project'
  readonly name: string
  readonly url: string
}

/**
 * The name for use in mail; null if the group or project, or one of its ancestors, has email notifications disabled.
 */
export async function nameMailedSource(app: App, at: SourceColumns): Promise<SourceName | null> {
  const { db } = app
  const source =
    at.project_id === null
      ? { id: at.group_id, emails_disabled: false }
      : await db
          .selectFrom('projects')
          .select(['namespace_id as id', 'emails_disabled'])
          .where('id', '=', at.project_id)
          .executeTakeFirst()
  if (!source || source.emails_disabled) return null
  const silent = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select('n.id')
    .where('a.namespace_id', '=', source.id)
    .where('n.emails_disabled', '=', true)
    .limit(1)
    .executeTakeFirst()
  return silent ? null : nameSource(app, at)
}

/** Null if the group or project is deleted or being deleted. */
export async function nameSource(app: App, { group_id, project_id }: SourceColumns): Promise<SourceName | null> {
  const { db, url } = app
  if (group_id !== null) {
    const group = await db
      .selectFrom('namespaces')
      .select(['full_name', 'full_path'])
      .where('id', '=', group_id)
      .where('deleting', '=', false)
      .executeTakeFirst()
    return group ? { kind: 'group', name: group.full_name, url: `${url}/groups/${group.full_path}` } : null
  }
  const project = await db
    .selectFrom('projects as p')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .select(['p.name', 'p.path', 'n.full_name', 'n.full_path'])
    .where('p.id', '=', project_id)
    .where('p.deleting', '=', false)
    .where('n.deleting', '=', false)
    .executeTakeFirst()
  if (!project) return null
  const { name, path, full_name, full_path } = project
  return { kind: 'project', name: `${full_name} / ${name}`, url: `${url}/${full_path}/${path}` }
}
