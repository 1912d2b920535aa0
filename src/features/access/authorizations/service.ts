/**
 * The levels of all users on all projects. They are computed when something changes, not at each read. Code that
 * changes a membership, a share, a project's namespace or a lock calls `refreshAuthorizations()` in the same
 * transaction.
 */
import { sql, type RawBuilder } from 'kysely'
import type { TransactionApp } from '../../../context.ts'
import { Guest, Owner } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { lockName, idList, inIdList } from '../../../store/dialect.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'

export interface Reach {
  /** All users if absent. */
  users?: readonly number[]
  /**
   * One project, or every project that members of this group can reach: projects inside the group, and projects that
   * are shared, directly or through an ancestor group, with a group inside this one.
   */
  project?: number
  projects?: readonly number[]
  group?: number
}

/** The caller gives at least one of the fields: no caller recomputes all rows. */
export async function refreshAuthorizations(app: TransactionApp, reach: Reach): Promise<void> {
  const { db } = app
  const users = reach.users && idList(db, reach.users)
  const ofUsers = (column: string) => (users === undefined ? sql<boolean>`1 = 1` : inIdList(db, column, users))
  const projects = reachedProjects(db, reach)
  const within = (column: string) =>
    projects ? sql<boolean>`${sql.ref(column)} in (${projects})` : sql<boolean>`1 = 1`

  // Without the lock, two concurrent refreshes miss each other's writes, and a revoked level could stay in the
  // table.
  await lockName(db, 'authorizations')
  await sql`delete from project_authorizations where ${ofUsers('user_id')} and ${within('project_id')}`.execute(db)
  await sql`
    insert into project_authorizations (user_id, project_id, access_level)
    select user_id, project_id, max(access_level) from (
      select m.user_id, m.project_id, m.access_level from members m
      where m.project_id is not null and ${ofUsers('m.user_id')} and ${within('m.project_id')}
      union all
      select n.owner_id, p.id, ${sql.lit(Owner)} from projects p
      join namespaces n on n.id = p.namespace_id and n.kind = 'user' and n.owner_id is not null
      where ${ofUsers('n.owner_id')} and ${within('p.id')}
      union all
      ${eachWayInto(
        ({ from, level }) => sql`select m.user_id, p.id, ${level} from ${from}
          join projects p on p.namespace_id = a.namespace_id
          where ${ofUsers('m.user_id')} and ${within('p.id')}`,
      )}
      union all
      select m.user_id, p.id, case when m.access_level < s.group_access then m.access_level else s.group_access end
      from project_shares s
      join projects p on p.id = s.project_id
      join namespaces n on n.id = p.namespace_id and not n.share_with_group_lock
      join namespace_ancestors a on a.namespace_id = s.group_id
      join members m on m.group_id = a.ancestor_id
      where ${ofUsers('m.user_id')} and ${within('p.id')}
    ) granted
    group by user_id, project_id
    having max(access_level) >= ${sql.lit(Guest)}`.execute(db)
}

function reachedProjects(db: Db, { project, projects, group }: Reach): RawBuilder<number> | null {
  if (projects !== undefined) return sql`select id from projects where ${inIdList(db, 'id', idList(db, projects))}`
  if (project !== undefined) return sql`${project}`
  if (group === undefined) return null
  return sql`
    select p.id from projects p
    join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group}
    union select s.project_id from project_shares s
    join namespace_ancestors a on a.namespace_id = s.group_id where a.ancestor_id = ${group}
    union select p.id from group_shares s
    join namespace_ancestors a on a.namespace_id = s.shared_with_group_id
    join namespace_ancestors below on below.ancestor_id = s.group_id
    join projects p on p.namespace_id = below.namespace_id where a.ancestor_id = ${group}`
}
