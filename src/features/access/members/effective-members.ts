/**
 * Effective members of a group or project: direct, inherited or through shares. One row per user, sorted by user id.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { cachedTotal } from '../../../store/counts.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery, shapeOf, type IsGiven } from '../../../store/hot.ts'
import { longList } from '../../../store/lists.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { SourceColumns } from './model.ts'
import { addressesFor, among, peopleOf, type Addresses, type People, type PeopleFilter } from './people.ts'
import type { Origin } from './queries.ts'

type Member = Row<'members'>

/** A user with the highest level that any membership or share gives them. */
export type EffectiveMember = Pick<Member, 'user_id' | 'access_level'>

/** All users with access to a project, by id. */
const authorized = longList<People & { project_id: number; active?: true }, 'project_authorizations', 'user_id'>({
  table: 'project_authorizations',
  key: 'user_id',
  counted: ['project_authorizations', 'users'],
  always: (filter, { db, given }) => [
    sql`project_authorizations.project_id = ${filter.project_id}`,
    among(db, 'project_authorizations.user_id', filter, given),
  ],
  conditions: {
    active: {
      test: () => sql`exists (select 1 from users u
        where u.id = project_authorizations.user_id and u.state = 'active')`,
    },
  },
  orders: { user_id: null },
  // Members by their id; users, as everywhere, newest first.
  usual: (given) => ['user_id', given('active') ? 'desc' : 'asc'],
})

const ofGroup = (db: Db, p: People & { group_id: number }, given: IsGiven<People>) =>
  db.selectFrom(
    sql<EffectiveMember>`(${eachWayInto(
      ({ from, level }) => sql`select m.user_id, ${level} as access_level from ${from}
        where a.namespace_id = ${p.group_id} and ${among(db, 'm.user_id', p, given)}`,
    )})`.as('m'),
  )

const inherited = hotQuery((db, p: People & { group_id: number; limit: number; offset: number }, given) =>
  ofGroup(db, p, given as IsGiven<People>)
    .select(['m.user_id', sql<number>`max(m.access_level)`.as('access_level')])
    .groupBy('m.user_id')
    .orderBy('m.user_id')
    .limit(p.limit)
    .offset(p.offset),
)
const countInherited = hotQuery((db, p: People & { group_id: number }, given) =>
  ofGroup(db, p, given as IsGiven<People>).select(sql<number>`count(distinct m.user_id)`.as('total')),
)

/** Members of the group and of its ancestors, and members of groups it is shared with, by id. */
async function listInherited(db: Db, filter: People & { group_id: number }, { limit, offset }: PageRequest) {
  const key = `inherited members ${shapeOf(filter)} ${JSON.stringify(filter)}`
  const count = async () => Number((await countInherited(db, filter))[0]!.total)
  const total = await cachedTotal(db, ['members', 'users', 'namespaces', 'group_shares'], key, count)
  return { items: offset < total ? await inherited(db, { ...filter, limit, offset }) : [], total }
}

/** Direct, inherited and shared members: one row per user. */
export function listEffectiveMembers(
  db: Db,
  { group_id, project_id }: SourceColumns,
  filter: PeopleFilter,
  page: PageRequest,
  addresses: Addresses = 'none',
): Promise<Page<EffectiveMember>> {
  const people = peopleOf(db, filter, addresses)
  if (group_id !== null) return listInherited(db, { ...people, group_id }, page)
  return authorized(db, { ...people, project_id: project_id! }, page)
}

const JUST_ONE: PageRequest = { page: 1, limit: 1, offset: 0 }

export async function findEffectiveMember(db: Db, at: SourceColumns, user: number): Promise<EffectiveMember | null> {
  const { items } = await listEffectiveMembers(db, at, { user_ids: [user] }, JUST_ONE)
  return items[0] ?? null
}

/** Users who have access to a project, as the user search of visitors and signed-in users shows them. */
export async function listAuthorizedUsers(
  db: Db,
  viewer: User | null,
  project: number,
  { search, ...filter }: PeopleFilter & { search?: string | null | undefined },
  page: PageRequest,
): Promise<Page<User>> {
  const people = peopleOf(db, { ...filter, query: search }, addressesFor(viewer))
  const { items, total } = await authorized(db, { ...people, project_id: project, active: true }, page)
  const loaded = await withUsers(db, items, { user: 'user_id' })
  return { items: loaded.map(({ user }) => user), total }
}

/** Every membership that counts for a group or project, with the level it gives there. */
const membershipsAt = ({ group_id, project_id }: SourceColumns): RawBuilder<unknown> => {
  const inGroup = (where: RawBuilder<unknown>) =>
    eachWayInto(({ from, level }) => sql`select m.id, ${level} as granted from ${from} ${where}`)
  if (group_id !== null) return inGroup(sql`where a.namespace_id = ${group_id}`)
  return sql`${inGroup(sql`join projects p on p.namespace_id = a.namespace_id where p.id = ${project_id}`)}
    union all select m.id, m.access_level from members m where m.project_id = ${project_id}
    union all select m.id, case when m.access_level < s.group_access then m.access_level else s.group_access end
    from project_shares s
    join projects p on p.id = s.project_id
    join namespaces n on n.id = p.namespace_id and not n.share_with_group_lock
    join namespace_ancestors a on a.namespace_id = s.group_id
    join members m on m.group_id = a.ancestor_id
    where s.project_id = ${project_id}`
}

/**
 * Adds the membership that each level comes from, the oldest one if several give the same level. The owner of a
 * personal project needs no membership.
 */
export async function withOrigins(
  db: Db,
  at: SourceColumns,
  standings: readonly EffectiveMember[],
): Promise<(EffectiveMember & Partial<Origin>)[]> {
  if (standings.length === 0) return []
  const users = idList(
    db,
    standings.map(({ user_id }) => user_id),
  )
  const { rows } = await sql<Origin>`
    select m.user_id, m.expires_at, m.created_at, m.created_by_id from (${membershipsAt(at)}) given
    join members m on m.id = given.id
    where ${inIdList(db, 'm.user_id', users)}
    order by given.granted, m.id desc`.execute(db)
  const highest = new Map(rows.map((row) => [row.user_id, row]))
  return standings.map((member) => ({ ...highest.get(member.user_id), ...member }))
}
