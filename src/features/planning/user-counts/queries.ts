import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { isReadable, seesMergeRequest } from '../seeing.ts'

/** The number of open merge requests, visible to the user, that are assigned to them or await their review. */
export async function countMergeRequests(db: Db, viewer: User, role: 'assignees' | 'reviewers'): Promise<number> {
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  const isSeen = viewer.admin ? sql`true` : sql`${isReadable(way)} and ${seesMergeRequest(viewer.id, way)}`
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(`merge_request_${role}`)} mine
    join merge_requests m on m.id = mine.merge_request_id
    join projects p on p.id = m.project_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer.id}
    where mine.user_id = ${viewer.id} and m.state in ('opened', 'locked') and not p.deleting and not p.archived
    and ${isSeen}`.execute(db)
  return Number(rows[0]!.total)
}
