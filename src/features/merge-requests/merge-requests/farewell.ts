import type { Farewell } from '../../../context.ts'

/** What they wrote is the heir's, or goes with them. What they merged stays merged. */
export const leaveMergeRequests: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) {
    await db.deleteFrom('merge_requests').where('author_id', '=', id).execute()
    return
  }
  for (const column of ['author_id', 'merge_user_id', 'closed_by_id'] as const) {
    await db
      .updateTable('merge_requests')
      .set({ [column]: heir.id })
      .where(column, '=', id)
      .execute()
  }
}
