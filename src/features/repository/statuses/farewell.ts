import type { Farewell } from '../../../context.ts'

/** What their tools reported stays in any case; without an heir it is nobody's. */
export const leaveStatuses: Farewell = async ({ db }, { id }, { heir }) => {
  if (heir) await db.updateTable('commit_statuses').set({ author_id: heir.id }).where('author_id', '=', id).execute()
}
