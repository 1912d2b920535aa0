import type { OnUserRemoved } from '../../../context.ts'

/** What they asked of others still waits. */
export const releaseTodos: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  await db
    .updateTable('todos')
    .set({ author_id: successor.id })
    .where('author_id', '=', id)
    .where('user_id', '!=', id)
    .execute()
}
