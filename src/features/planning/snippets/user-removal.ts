import type { OnUserRemoved } from '../../../context.ts'

/** Snippets are deleted with their author, even if there is a successor. */
export const releaseSnippets: OnUserRemoved = async ({ db }, { id }) => {
  await db.deleteFrom('snippets').where('author_id', '=', id).execute()
}
