import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

const given = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_requests as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .select([
      'm.id',
      'm.approvals_before_merge as own',
      'p.approvals_before_merge as usual',
      sql<number>`(select count(*) from merge_request_approvals a where a.merge_request_id = m.id)`.as('given'),
    ])
    .where(inIdList(db, 'm.id', p.ids)),
)

/** Of a project that asks for none, none is asked; a request can only ask for more. */
export const requiredBy = (usual: number, own: number | null): number =>
  usual > 0 && own !== null && own > usual ? own : usual

/** How many approvals each needs, and how many of them it lacks. */
export async function approvalsOf(
  db: Db,
  requests: readonly MergeRequest[],
): Promise<Map<number, { required: number; left: number }>> {
  const rows = await given(db, {
    ids: idList(
      db,
      requests.map(({ id }) => id),
    ),
  })
  return new Map(
    rows.map(({ id, own, usual, given }) => {
      const required = requiredBy(usual, own)
      return [id, { required, left: Math.max(0, required - Number(given)) }]
    }),
  )
}
