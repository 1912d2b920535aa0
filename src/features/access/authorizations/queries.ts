/** Answers what a user may do, for one record or for a page of records. No other module computes levels. */
import { sql, type RawBuilder } from 'kysely'
import type { User } from '../../../context.ts'
import { Guest, NoAccess, Owner, type Visibility } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'

/** Blocked users keep their memberships, but the memberships give them no access. */
const isActive = (viewer: User | null): viewer is User => viewer?.state === 'active'

/** Visibilities that are open to the viewer without any membership. */
export function openVisibilities(viewer: User | null): readonly Visibility[] {
  return isActive(viewer) && !viewer.external ? ['public', 'internal'] : ['public']
}

export const isOpenTo = (viewer: User | null, visibility: Visibility): boolean =>
  openVisibilities(viewer).includes(visibility)

/** The viewer's level, given their level in `project_authorizations`. Administrators own every project. */
export function levelOf(viewer: User | null, authorized: number | null): number {
  if (!isActive(viewer)) return NoAccess
  return viewer.admin ? Owner : (authorized ?? NoAccess)
}

const levelsOn = hotQuery((db, p: { user_id: number; projects: string }) =>
  db
    .selectFrom('project_authorizations')
    .select(['project_id', 'access_level'])
    .where('user_id', '=', p.user_id)
    .where(inIdList(db, 'project_id', p.projects)),
)

/** The viewer's level on each of these projects, by id; one query for a page. */
export async function levelsOnProjects(
  db: Db,
  viewer: User | null,
  projects: readonly number[],
): Promise<(project: number) => number> {
  if (!isActive(viewer) || viewer.admin || projects.length === 0) return () => levelOf(viewer, null)
  const rows = await levelsOn(db, { user_id: viewer.id, projects: idList(db, projects) })
  const levels = new Map(rows.map(({ project_id, access_level }) => [project_id, access_level]))
  return (project) => levels.get(project) ?? NoAccess
}

export async function levelOnProject(db: Db, viewer: User | null, project: number): Promise<number> {
  return (await levelsOnProjects(db, viewer, [project]))(project)
}

/** Minimal access to a group covers the group itself and nothing inside it. */
const reachesDown = (ancestors: string, members: string) =>
  sql<boolean>`(${sql.ref(`${ancestors}.depth`)} = 0 or ${sql.ref(`${members}.access_level`)} >= ${sql.lit(Guest)})`

const levelsIn = hotQuery((db, p: { user_id: number; groups: string }) =>
  db
    .selectFrom(
      sql<{ group_id: number; access_level: number }>`(${eachWayInto(
        ({ from, level }) => sql`select a.namespace_id as group_id, ${level} as access_level from ${from}
          where m.user_id = ${p.user_id} and ${inIdList(db, 'a.namespace_id', p.groups)}`,
      )})`.as('granted'),
    )
    .select('granted.group_id')
    .select((eb) => eb.fn.max('granted.access_level').as('access_level'))
    .groupBy('granted.group_id'),
)

/** Levels come from members of the group and of its ancestors, and of groups that any of these is shared with. */
export async function levelsInGroups(
  db: Db,
  viewer: User | null,
  groups: readonly number[],
): Promise<(group: number) => number> {
  if (!isActive(viewer) || groups.length === 0) return () => NoAccess
  if (viewer.admin) return () => Owner
  const rows = await levelsIn(db, { user_id: viewer.id, groups: idList(db, groups) })
  const levels = new Map(rows.map(({ group_id, access_level }) => [group_id, Number(access_level)]))
  return (group) => levels.get(group) ?? NoAccess
}

export async function levelInGroup(db: Db, viewer: User | null, group: number): Promise<number> {
  return (await levelsInGroups(db, viewer, [group]))(group)
}

/**
 * Ids of a user's groups: the groups of their memberships, groups shared with one of these, the ancestors and
 * descendants of all of these, and the groups around projects the user is a member of. The cost grows with the number
 * of memberships, not with the number of records these reach.
 */
export const groupsOfUser = (user: number): RawBuilder<number> => sql`
  select a.namespace_id from members m
    join namespace_ancestors a on a.ancestor_id = m.group_id
    where m.user_id = ${user} and ${reachesDown('a', 'm')}
  union select a.ancestor_id from members m
    join namespaces g on g.id = m.group_id and not g.deleting
    join namespace_ancestors a on a.namespace_id = m.group_id where m.user_id = ${user}
  union select a.ancestor_id from members m
    join projects p on p.id = m.project_id and not p.deleting
    join namespace_ancestors a on a.namespace_id = p.namespace_id where m.user_id = ${user}
  union select up.ancestor_id from members m
    join namespace_ancestors down on down.ancestor_id = m.group_id
    join project_shares s on s.group_id = down.namespace_id
    join projects p on p.id = s.project_id and not p.deleting
    join namespaces n on n.id = p.namespace_id and not n.share_with_group_lock
    join namespace_ancestors up on up.namespace_id = p.namespace_id
    where m.user_id = ${user} and m.access_level >= ${sql.lit(Guest)}
  union select a.namespace_id from members m
    join namespace_ancestors down on down.ancestor_id = m.group_id
    join group_shares s on s.shared_with_group_id = down.namespace_id
    join namespace_ancestors a on a.ancestor_id = s.group_id
    where m.user_id = ${user} and m.access_level >= ${sql.lit(Guest)}
  union select a.ancestor_id from members m
    join namespace_ancestors down on down.ancestor_id = m.group_id
    join group_shares s on s.shared_with_group_id = down.namespace_id
    join namespace_ancestors a on a.namespace_id = s.group_id
    where m.user_id = ${user} and m.access_level >= ${sql.lit(Guest)}`

const amongGroupsOf = hotQuery((db, p: { user_id: number; group_id: number }) =>
  db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', p.group_id)
    .where(sql<boolean>`id in (${groupsOfUser(p.user_id)})`),
)

/**
 * Whether a private group is visible to the viewer: its members see the group, and so do members of anything inside it.
 */
export async function isGroupOf(db: Db, viewer: User | null, group: number): Promise<boolean> {
  if (!isActive(viewer)) return false
  return viewer.admin || (await amongGroupsOf(db, { user_id: viewer.id, group_id: group })).length > 0
}
