import { sql } from 'kysely'
import type { Replanning } from '../../../context.ts'

/** Replaces labels and milestones on merge requests when they are merged or promoted. */
export const replanMergeRequests: Replanning = async ({ db }, { kind, from, to, project }) => {
  const isIn = (column: string) =>
    project === undefined
      ? sql<boolean>`true`
      : sql<boolean>`${sql.ref(column)} in (select id from merge_requests where project_id = ${project})`
  if (kind === 'milestone') {
    await db
      .updateTable('merge_requests')
      .set({ milestone_id: to })
      .where('milestone_id', '=', from)
      .where(isIn('id'))
      .execute()
    return
  }
  const isOld = sql`label_id = ${from} and ${isIn('merge_request_id')}`
  await sql`insert into merge_request_labels (merge_request_id, label_id)
    select merge_request_id, ${to} from merge_request_labels where ${isOld} on conflict do nothing`.execute(db)
  await sql`delete from merge_request_labels where ${isOld}`.execute(db)
}
