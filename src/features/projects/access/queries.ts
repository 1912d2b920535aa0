import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { isOpenTo } from '../../access/authorizations/queries.ts'
import type { Namespace, Project } from '../projects/queries.ts'
import type { AccessFacts } from './entity.ts'

/** Reads memberships and shares directly, not the computed authorizations, so that the two can be compared. */
export async function accessFacts(db: Db, user: User, project: Project, namespace: Namespace): Promise<AccessFacts> {
  const direct = await db
    .selectFrom('members')
    .select(['access_level', 'expires_at'])
    .where('project_id', '=', project.id)
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  const inherited = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('members as m', 'm.group_id', 'a.ancestor_id')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select(['n.id', 'n.full_path', 'm.access_level', 'm.expires_at'])
    .where('a.namespace_id', '=', namespace.id)
    .where('m.user_id', '=', user.id)
    .orderBy('a.depth')
    .execute()
  return {
    user,
    visibility: project.visibility,
    open: isOpenTo(user, project.visibility),
    ownsNamespace: namespace.owner_id === user.id,
    direct: direct ?? null,
    inherited,
    shares: [...(await sharesReaching(db, user, project, namespace)), ...(await sharesAround(db, user, namespace))],
  }
}

async function sharesReaching(
  db: Db,
  user: User,
  project: Project,
  namespace: Namespace,
): Promise<AccessFacts['shares']> {
  const rows = await db
    .selectFrom('project_shares as s')
    .innerJoin('namespaces as target', 'target.id', 's.group_id')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 's.group_id')
    .innerJoin('members as m', 'm.group_id', 'a.ancestor_id')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select(['s.group_access', 's.expires_at', 'm.access_level'])
    .select(['n.id', 'n.full_path', 'target.id as target_id', 'target.full_path as target_path'])
    .where('s.project_id', '=', project.id)
    .where('m.user_id', '=', user.id)
    .orderBy('s.id')
    .orderBy('a.depth')
    .execute()
  return rows.map((row) => ({
    group: { id: row.id, full_path: row.full_path },
    shared_with: { id: row.target_id, full_path: row.target_path },
    group_access: row.group_access,
    member_access_level: row.access_level,
    expires_at: row.expires_at,
    locked: namespace.share_with_group_lock,
  }))
}

/** Shares of the groups above a project. A share lock does not stop them. */
async function sharesAround(db: Db, user: User, namespace: Namespace): Promise<AccessFacts['shares']> {
  const rows = await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('group_shares as s', 's.group_id', 'above.ancestor_id')
    .innerJoin('namespaces as shared', 'shared.id', 's.group_id')
    .innerJoin('namespaces as target', 'target.id', 's.shared_with_group_id')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 's.shared_with_group_id')
    .innerJoin('members as m', 'm.group_id', 'a.ancestor_id')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select(['s.group_access', 's.expires_at', 'm.access_level', 'n.id', 'n.full_path'])
    .select(['shared.id as shared_id', 'shared.full_path as shared_path'])
    .select(['target.id as target_id', 'target.full_path as target_path'])
    .where('above.namespace_id', '=', namespace.id)
    .where('m.user_id', '=', user.id)
    .orderBy('above.depth')
    .orderBy('s.id')
    .orderBy('a.depth')
    .execute()
  return rows.map((row) => ({
    group: { id: row.id, full_path: row.full_path },
    shared_group: { id: row.shared_id, full_path: row.shared_path },
    shared_with: { id: row.target_id, full_path: row.target_path },
    group_access: row.group_access,
    member_access_level: row.access_level,
    expires_at: row.expires_at,
    locked: false,
  }))
}
