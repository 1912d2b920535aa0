import type { OnUserRemoved } from '../../../context.ts'

/** What they wrote is the heir's, or goes with them. What they merged stays merged. */
export const releaseMergeRequests: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) {
    await db.deleteFrom('merge_requests').where('author_id', '=', id).execute()
    return
  }
  for (const column of ['author_id', 'merge_user_id', 'closed_by_id'] as const) {
    await db
      .updateTable('merge_requests')
      .set({ [column]: successor.id })
      .where(column, '=', id)
      .execute()
  }
}
