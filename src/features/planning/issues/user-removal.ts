import type { OnUserRemoved } from '../../../context.ts'

/** What they wrote is the heir's, or goes with them. What they closed stays closed. */
export const releaseIssues: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) {
    await db.deleteFrom('issues').where('author_id', '=', id).execute()
    return
  }
  await db.updateTable('issues').set({ author_id: successor.id }).where('author_id', '=', id).execute()
  await db.updateTable('issues').set({ closed_by_id: successor.id }).where('closed_by_id', '=', id).execute()
}
