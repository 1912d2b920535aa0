/** Groups related to a project: its ancestors, and the groups it is shared with. */
import { sql, type RawBuilder } from 'kysely'
import type { App } from '../../../context.ts'
import { Guest, NoAccess, levelWithin, type Visibility } from '../../../lib/levels.ts'
import { likePattern } from '../../../store/dialect.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { Group } from '../groups/queries.ts'

interface NamedRecord {
  search?: string | null | undefined
  skip_groups?: readonly number[] | null | undefined
}

function pageOfGroups({ db }: App, ids: RawBuilder<unknown>, { search, skip_groups }: NamedRecord, page: Cut) {
  const term = search?.trim()
  const skipped = skip_groups ?? []
  const like = (column: 'name' | 'path') =>
    sql<boolean>`lower(${sql.ref(column)}) like lower(${likePattern(term!)}) escape '\\'`
  return pageOfQuery(
    db
      .selectFrom('namespaces')
      .selectAll()
      .where(sql<boolean>`id in (${ids})`)
      .where('kind', '=', 'group')
      .where('deleting', '=', false)
      .$if(Boolean(term), (query) => query.where((eb) => eb.or([like('name'), like('path')])))
      .$if(skipped.length > 0, (query) => query.where('id', 'not in', skipped))
      .orderBy('id'),
    page,
  )
}

const around = ({ namespace }: ProjectSubject) =>
  sql`select ancestor_id from namespace_ancestors where namespace_id = ${namespace.id}`

/** Only members of the project see the name of a private group, unless they are a member of that group. */
const isVisible = ({ viewer, level }: ProjectSubject, { visibleOnly = false } = {}): RawBuilder<boolean> => {
  if (viewer?.admin || (level >= Guest && !visibleOnly)) return sql`1 = 1`
  const open = sql.join(openVisibilities(viewer).map((one: Visibility) => sql.lit(one)))
  return sql`(n.visibility in (${open}) or n.id in (${groupsOfUser(viewer?.id ?? 0)}))`
}

const sharedWith = (subject: ProjectSubject, level: number, input?: { visibleOnly?: boolean }) =>
  sql`select n.id from project_shares s join namespaces n on n.id = s.group_id
    where s.project_id = ${subject.project.id} and s.group_access >= ${levelWithin(level)} and ${isVisible(subject, input)}`

/** Shares of the project's ancestor groups. */
const inheritedShares = (subject: ProjectSubject, level: number) =>
  sql`select n.id from group_shares s join namespaces n on n.id = s.shared_with_group_id
    where s.group_id in (${around(subject)}) and s.group_access >= ${levelWithin(level)} and ${isVisible(subject)}`

export interface GroupsAroundFilter extends NamedRecord {
  with_shared?: boolean | null | undefined
  shared_visible_only?: boolean | null | undefined
  shared_min_access_level?: number | null | undefined
}

export function listGroupsAround(
  app: App,
  subject: ProjectSubject,
  filter: GroupsAroundFilter,
  page: Cut,
): Promise<Page<Group>> {
  const { shared_min_access_level: level, shared_visible_only } = filter
  const shared = sharedWith(subject, level ?? NoAccess, { visibleOnly: Boolean(shared_visible_only) })
  const ids = filter.with_shared ? sql`${around(subject)} union ${shared}` : around(subject)
  return pageOfGroups(app, ids, filter, page)
}

export const RELATIONS = ['direct', 'inherited'] as const

export interface InvitedGroupsFilter extends NamedRecord {
  /** Both relations if absent. */
  relation?: readonly (typeof RELATIONS)[number][] | null | undefined
  min_access_level?: number | null | undefined
}

export function listInvitedGroups(
  app: App,
  subject: ProjectSubject,
  { relation, min_access_level, ...named }: InvitedGroupsFilter,
  page: Cut,
): Promise<Page<Group>> {
  const level = min_access_level ?? NoAccess
  const relations = relation && relation.length > 0 ? relation : RELATIONS
  const ways = { direct: sharedWith(subject, level), inherited: inheritedShares(subject, level) }
  const ids = sql`${sql.join(
    relations.map((one) => ways[one]),
    sql` union `,
  )}`
  return pageOfGroups(app, ids, named, page)
}
