/** Resolves threads on noteables that can be merged, as a whole or note by note. */
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { addSystemNotes, type Noteable } from './system.ts'
import type { NoteableItem } from './noteable.ts'

type Which = { readonly id: number } | { readonly discussion_id: string }

/** Notes that are already resolved keep user and time. */
export async function resolveNotes(
  app: App,
  actor: User,
  topic: Pick<NoteableItem, 'noteable' | 'touch'>,
  which: Which,
  resolved: boolean,
): Promise<void> {
  const [[column, value]] = Object.entries(which) as [['id' | 'discussion_id', number | string]]
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('notes')
      .set({
        resolved_at: resolved ? timestamp(app.clock) : null,
        resolved_by_id: resolved ? actor.id : null,
        resolved_by_push: false,
      })
      .where(column, '=', value)
      .where('type', 'is not', null)
      .where('system', '=', false)
      .where('resolved_at', resolved ? 'is' : 'is not', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    // `touch` locks the row. From here on one transaction runs at a time, so the one that resolves the last thread
    // knows it.
    await topic.touch?.(app)
    if (resolved && !(await hasUnresolved(app.db, topic.noteable))) {
      await addSystemNotes(app, actor, topic.noteable, [{ action: 'discussion', body: 'resolved all discussions' }])
    }
  })
}

async function hasUnresolved(db: Db, noteable: Noteable): Promise<boolean> {
  if (!('merge_request_id' in noteable)) return false
  const left = await db
    .selectFrom('notes')
    .select('id')
    .where('merge_request_id', '=', noteable.merge_request_id)
    .where('type', 'is not', null)
    .where('system', '=', false)
    .where('resolved_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return left !== undefined
}

/** Whether all notes of the discussion are resolved, read in the transaction of the caller. */
export async function isResolved({ db }: App, discussion: string): Promise<boolean> {
  const notes = await db
    .selectFrom('notes')
    .select('resolved_at')
    .where('discussion_id', '=', discussion)
    .where('type', 'is not', null)
    .where('system', '=', false)
    .execute()
  return notes.length > 0 && notes.every(({ resolved_at }) => resolved_at !== null)
}
