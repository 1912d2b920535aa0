import type { OnUserRemoved } from '../../../context.ts'

/** The successor takes over authored issues. Without a successor they are deleted. Closed ones stay closed. */
export const releaseIssues: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) {
    await db.deleteFrom('issues').where('author_id', '=', id).execute()
    return
  }
  await db.updateTable('issues').set({ author_id: successor.id }).where('author_id', '=', id).execute()
  await db.updateTable('issues').set({ closed_by_id: successor.id }).where('closed_by_id', '=', id).execute()
}
