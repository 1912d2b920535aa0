import type { Farewell } from '../../../context.ts'

/** What they asked of others still waits. */
export const leaveTodos: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) return
  await db
    .updateTable('todos')
    .set({ author_id: heir.id })
    .where('author_id', '=', id)
    .where('user_id', '!=', id)
    .execute()
}
