import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import type { NewRow, TransactionDb } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { hotInsert, hotQuery } from '../../../store/hot.ts'
import type { Issue } from '../issues/model.ts'
import type { ItemKind, ItemRow } from '../items/kind.ts'
import { itemIn } from '../items/registry.ts'
import type { Milestone } from '../milestones/model.ts'
import type { Note } from '../notes/model.ts'
import type { Snippet } from '../snippets/model.ts'
import type { Kind } from './model.ts'

type Happening = Pick<NewRow<'activities'>, 'project_id' | 'author_id' | 'kind'> & Partial<NewRow<'activities'>>

const insertActivities = hotInsert(
  'activities',
  [
    'project_id',
    'author_id',
    'kind',
    'issue_id',
    'merge_request_id',
    'milestone_id',
    'note_id',
    'gone',
    'push',
    'source',
    'reserved',
    'created_at',
  ],
  { skip: true },
)

/** Of several activities from one event, the first one stays. */
export async function recordActivities({ db, clock }: App, happenings: readonly Happening[]): Promise<void> {
  const created_at = timestamp(clock)
  await insertActivities(
    db,
    happenings.map((one) => ({ reserved: false, created_at, ...one })),
  )
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

/** A comment of a user. */
export async function recordNote(app: TransactionApp, note: Note): Promise<void> {
  if (note.system || note.author_id === null) return
  await recordActivities(app, [
    {
      project_id: note.project_id,
      author_id: note.author_id,
      kind: kindOf(note),
      note_id: note.id,
      issue_id: note.issue_id,
      merge_request_id: note.merge_request_id,
      reserved: note.internal || (await isOnReserved(app.db, note)),
      source: `note ${note.id}`,
      created_at: note.created_at,
    },
  ])
}

function kindOf(note: Note): Kind {
  const item = itemIn(note)
  if (item) return `${item.kind.key}.commented`
  return note.snippet_id !== null ? 'snippet.commented' : 'commit.commented'
}

const lockedIssue = hotQuery((db, p: { id: number }) =>
  db
    .selectFrom('issues')
    .select('confidential')
    .where('id', '=', p.id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate()),
)
const lockedSnippet = hotQuery((db, p: { id: number }) =>
  db
    .selectFrom('snippets')
    .select('visibility')
    .where('id', '=', p.id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate()),
)

/** Locks the issue or snippet, so that its visibility does not change while this is written. */
async function isOnReserved(db: TransactionDb, { issue_id, snippet_id }: Note): Promise<boolean> {
  if (issue_id !== null) return (await lockedIssue(db, { id: issue_id }))[0]?.confidential ?? false
  if (snippet_id === null) return false
  const [snippet] = await lockedSnippet(db, { id: snippet_id })
  return snippet !== undefined && snippet.visibility !== 'public'
}

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
