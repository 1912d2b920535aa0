import type { Farewell } from '../../../context.ts'

/** What they said stays and is the heir's; without one it goes. */
export const leaveNotes: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir)
    return void (await db.deleteFrom('notes').where('author_id', '=', id).where('system', '=', false).execute())
  await db.updateTable('notes').set({ author_id: heir.id }).where('author_id', '=', id).execute()
}
