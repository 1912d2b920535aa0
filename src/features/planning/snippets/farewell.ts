import type { Farewell } from '../../../context.ts'

/** They go with their author, whoever else would be the heir. */
export const leaveSnippets: Farewell = async ({ db }, { id }) => {
  await db.deleteFrom('snippets').where('author_id', '=', id).execute()
}
