import type { Farewell } from '../../../context.ts'

/** What they said of commits stays and is the heir's; without one it goes, except for what their tools reported. */
export const leaveCommits: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) return void (await db.deleteFrom('commit_comments').where('author_id', '=', id).execute())
  for (const table of ['commit_comments', 'commit_statuses'] as const) {
    await db.updateTable(table).set({ author_id: heir.id }).where('author_id', '=', id).execute()
  }
}
