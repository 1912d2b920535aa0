import type { Farewell } from '../../../context.ts'

/** What they said of commits stays and is the heir's; without one it goes. */
export const leaveComments: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) return void (await db.deleteFrom('commit_comments').where('author_id', '=', id).execute())
  await db.updateTable('commit_comments').set({ author_id: heir.id }).where('author_id', '=', id).execute()
}
