import type { OnUserRemoved } from '../../../context.ts'

/** They go with their author, whoever else would be the heir. */
export const releaseSnippets: OnUserRemoved = async ({ db }, { id }) => {
  await db.deleteFrom('snippets').where('author_id', '=', id).execute()
}
