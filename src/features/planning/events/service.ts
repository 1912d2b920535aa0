import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import type { NewRow } from '../../../store/database.ts'
import type { Issue } from '../issues/model.ts'
import type { ItemKind, ItemRow } from '../items/kind.ts'
import type { Milestone } from '../milestones/model.ts'
import type { Snippet } from '../snippets/model.ts'
import type { Kind } from './model.ts'

type Happening = Pick<NewRow<'activities'>, 'project_id' | 'author_id' | 'kind'> & Partial<NewRow<'activities'>>

const NOTHING = {
  issue_id: null,
  merge_request_id: null,
  milestone_id: null,
  note_id: null,
  gone: null,
  push: null,
  source: null,
}

/** Of several activities from one event, the first one stays. */
export async function recordActivities({ db, clock }: App, happenings: readonly Happening[]): Promise<void> {
  if (happenings.length === 0) return
  const created_at = timestamp(clock)
  await db
    .insertInto('activities')
    .values(happenings.map((one) => ({ ...NOTHING, reserved: false, created_at, ...one })))
    .onConflict((c) => c.column('source').doNothing())
    .execute()
}

export const recordItem = (
  app: TransactionApp,
  by: number,
  { key, column }: ItemKind,
  { id, project_id, confidential = false }: Pick<ItemRow, 'id' | 'project_id'> & { readonly confidential?: boolean },
  action: 'created' | 'closed' | 'reopened',
): Promise<void> =>
  recordActivities(app, [
    { project_id, author_id: by, kind: `${key}.${action}` as const, [column]: id, reserved: confidential },
  ])

/** Group milestones have no activities. */
export async function recordMilestone(
  app: TransactionApp,
  by: number,
  { id, iid, title, project_id }: Pick<Milestone, 'id' | 'iid' | 'title' | 'project_id'>,
  action: 'created' | 'closed' | 'reopened' | 'destroyed',
): Promise<void> {
  if (project_id === null) return
  const kind: Kind = `milestone.${action}`
  const target = action === 'destroyed' ? { gone: JSON.stringify({ id, iid, title }) } : { milestone_id: id }
  await recordActivities(app, [{ project_id, author_id: by, kind, ...target }])
}

/** Activities follow the visibility of their issue. */
export async function reserveActivities({ db }: TransactionApp, { id, confidential }: Issue): Promise<void> {
  await db
    .updateTable('activities')
    .set({ reserved: confidential })
    .where('issue_id', '=', id)
    .where('reserved', '!=', confidential)
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('note_id', 'is', null),
        not(
          exists(
            selectFrom('notes')
              .select('id')
              .whereRef('notes.id', '=', 'activities.note_id')
              .where('internal', '=', true),
          ),
        ),
      ]),
    )
    .execute()
}

/** The same for a snippet. */
export async function reserveSnippet({ db }: App, { id, visibility }: Snippet): Promise<void> {
  await db
    .updateTable('activities')
    .set({ reserved: visibility !== 'public' })
    .where('note_id', 'in', (notes) => notes.selectFrom('notes').select('id').where('snippet_id', '=', id))
    .execute()
}
