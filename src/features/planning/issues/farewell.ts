import type { Farewell } from '../../../context.ts'

/** What they wrote is the heir's, or goes with them. What they closed stays closed. */
export const leaveIssues: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) {
    await db.deleteFrom('issues').where('author_id', '=', id).execute()
    return
  }
  await db.updateTable('issues').set({ author_id: heir.id }).where('author_id', '=', id).execute()
  await db.updateTable('issues').set({ closed_by_id: heir.id }).where('closed_by_id', '=', id).execute()
}
