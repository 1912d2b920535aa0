/** System notes: changes as sentences among the notes of users. */
import { randomBytes } from 'node:crypto'
import { timestamp } from '../../../clock.ts'
import type { User, TransactionApp } from '../../../context.ts'
import { hotInsert } from '../../../store/hot.ts'
import type { ItemColumns } from '../items/kind.ts'
import type { NoteAction } from './model.ts'

export interface SystemNote {
  readonly action: NoteAction
  readonly body: string
  /** The thread of the note, if any. */
  readonly thread?:
    | { readonly discussion_id: string; readonly type: 'DiscussionNote'; readonly internal: boolean }
    | undefined
  /** The issue that it mentions, or the project of the commit that it mentions. */
  readonly about?: { readonly issue_id: number } | { readonly project_id: number } | undefined
}

/** The columns of a noteable. */
export type Noteable = { readonly project_id: number } & (
  | ItemColumns
  | { readonly commit_sha: string }
  | { readonly snippet_id: number }
)

/** The columns that find notes. Only commits need the project: PostgreSQL could choose another index for others. */
export function keyOf(noteable: Noteable) {
  if ('commit_sha' in noteable) return noteable
  const { project_id: _project, ...key } = noteable
  return key
}

export const newDiscussionId = (): string => randomBytes(20).toString('hex')

const insertNotes = hotInsert('notes', [
  'project_id',
  'issue_id',
  'merge_request_id',
  'commit_sha',
  'snippet_id',
  'discussion_id',
  'type',
  'author_id',
  'body',
  'action',
  'internal',
  'about_issue_id',
  'about_project_id',
  'system',
  'created_at',
  'updated_at',
])

/** Returns the ids. */
export async function addSystemNotes(
  app: TransactionApp,
  actor: User,
  noteable: Noteable,
  notes: readonly SystemNote[],
): Promise<number[]> {
  if (notes.length === 0) return []
  const now = timestamp(app.clock)
  const rows = notes.map(({ action, body, about = {}, thread }) => ({
    about_issue_id: 'issue_id' in about ? about.issue_id : null,
    about_project_id: 'project_id' in about ? about.project_id : null,
    ...noteable,
    discussion_id: thread?.discussion_id ?? newDiscussionId(),
    type: thread?.type ?? null,
    internal: thread?.internal ?? false,
    author_id: actor.id,
    body,
    system: true,
    action,
    created_at: now,
    updated_at: now,
  }))
  const made = await insertNotes(app.db, rows)
  return made.map(({ id }) => id)
}
