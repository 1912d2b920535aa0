import type { App } from '../../../context.ts'
import { newDiscussionId } from './system.ts'

const BATCH = 500

interface CopyOptions {
  /** Rewrites the texts for the copies. */
  readonly rewrite: (texts: readonly string[]) => Promise<string[]>
  /** Copies related rows; maps old note ids to new ids. */
  readonly follow: (copies: ReadonlyMap<number, number>) => Promise<void>
}

/** Copies the notes of an issue to another, with authors and times. */
export async function copyNotes(
  { db }: App,
  from: { readonly issue_id: number },
  to: { readonly issue_id: number; readonly project_id: number },
  { rewrite, follow }: CopyOptions,
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
    const bodies = await rewrite(notes.map(({ body }) => body))
    const rows = notes.map(({ id: _id, ...note }, n) => ({
      ...note,
      ...to,
      body: bodies[n]!,
      discussion_id: discussionOf(note.discussion_id),
    }))
    const copies = await db.insertInto('notes').values(rows).returning('id').execute()
    const ids = copies.map(({ id }) => id).toSorted((one, other) => one - other)
    await follow(new Map(notes.map(({ id }, n) => [id, ids[n]!])))
  }
}
