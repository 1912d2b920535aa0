import type { App } from '../../../context.ts'
import { newDiscussionId } from './system.ts'

const BATCH = 500

/** What was said of one issue stands under another too, by whom and when it was said, in the words of `rewrite`. */
export async function copyNotes(
  { db }: App,
  from: { readonly issue_id: number },
  to: { readonly issue_id: number; readonly project_id: number },
  rewrite: (text: string) => string,
): Promise<void> {
  const discussions = new Map<string, string>()
  const discussionOf = (id: string) => discussions.get(id) ?? discussions.set(id, newDiscussionId()).get(id)!
  for (let last = 0; ;) {
    const notes = await db
      .selectFrom('notes')
      .selectAll()
      .where('issue_id', '=', from.issue_id)
      .where('id', '>', last)
      .orderBy('id')
      .limit(BATCH)
      .execute()
    if (notes.length === 0) return
    last = notes.at(-1)!.id
    const rows = notes.map(({ id: _id, ...note }) => ({
      ...note,
      ...to,
      body: rewrite(note.body),
      discussion_id: discussionOf(note.discussion_id),
    }))
    await db.insertInto('notes').values(rows).execute()
  }
}
