/** Moves threads on lines of a diff that has changed. */
import { timestamp } from '../../../clock.ts'
import type { User, TransactionApp } from '../../../context.ts'
import type { StoredPosition } from './positions.ts'
import { isResolved } from './resolving.ts'
import { addSystemNotes, type Noteable } from './system.ts'

export interface ThreadMove {
  readonly discussion_id: string
  readonly internal: boolean
  /** The stored position before the move. */
  readonly from: string
  readonly line_code: string | null
  /** Null: the line no longer exists. */
  readonly to: StoredPosition | null
}

interface Outcome {
  /** The system note in a thread whose line no longer exists. */
  outdated(move: ThreadMove): string
  /** Whether such a thread becomes resolved. */
  readonly resolves: boolean
}

/** A thread that has moved meanwhile stays. */
export async function moveThreads(
  app: TransactionApp,
  actor: User | null,
  noteable: Noteable,
  moves: readonly ThreadMove[],
  { outdated, resolves }: Outcome,
): Promise<void> {
  const { db } = app
  for (const move of moves) {
    const { discussion_id, internal, from, to } = move
    if (to) {
      const set = { position: JSON.stringify(to.position), line_code: to.line_code }
      const thread = db.updateTable('notes').set(set).where('discussion_id', '=', discussion_id)
      await thread.where('position', '=', from).execute()
      continue
    }
    if (await isResolved(app, discussion_id)) continue
    if (actor) {
      const thread = { discussion_id, internal, type: 'DiscussionNote' as const }
      await addSystemNotes(app, actor, noteable, [{ action: 'outdated', body: outdated(move), thread }])
    }
    if (!resolves) continue
    await db
      .updateTable('notes')
      .set({ resolved_at: timestamp(app.clock), resolved_by_id: actor?.id ?? null, resolved_by_push: true })
      .where('discussion_id', '=', discussion_id)
      .where('type', 'is not', null)
      .where('system', '=', false)
      .where('resolved_at', 'is', null)
      .execute()
  }
}
