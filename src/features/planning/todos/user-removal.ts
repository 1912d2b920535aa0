import type { OnUserRemoved } from '../../../context.ts'

/** The successor becomes the author of items that others still have. */
export const releaseTodos: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  await db
    .updateTable('todos')
    .set({ author_id: successor.id })
    .where('author_id', '=', id)
    .where('user_id', '!=', id)
    .execute()
}
