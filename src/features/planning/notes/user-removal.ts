import type { OnUserRemoved } from '../../../context.ts'

/** The successor takes over the notes. Without a successor they are deleted. */
export const releaseNotes: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor)
    return void (await db.deleteFrom('notes').where('author_id', '=', id).where('system', '=', false).execute())
  await db.updateTable('notes').set({ author_id: successor.id }).where('author_id', '=', id).execute()
}
