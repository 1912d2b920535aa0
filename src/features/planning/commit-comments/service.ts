import { z } from 'zod'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { assertRules, limited } from '../../../api/rules.ts'
import type { App, User } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfTexts } from '../../../store/pages.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import type { Note } from '../notes/model.ts'
import type { PositionInput } from '../notes/positions.ts'
import { notesSeen } from '../notes/queries.ts'
import { createNote, startDiscussion, type NoteOutcome } from '../notes/service.ts'
import { noteableItemOf } from './noteable.ts'

export interface Anchor {
  readonly path: string
  readonly line: number
  readonly line_type: 'new' | 'old'
}

export const listComments = (
  db: Db,
  subject: RepositorySubject,
  commit: Commit,
  page: PageRequest,
): Promise<Page<Note>> => {
  const notes = notesSeen(db, { ...subject, topic: noteableItemOf(subject, commit) })
  return pageOfTexts(notes.selectAll().where('system', '=', false).orderBy('id'), 'body', page)
}

const commentRules = z.object({ note: limited(z.string(), 65_536) })

/** A position outside the diff of the commit is dropped, not refused. */
export async function commentCommit(
  app: App,
  author: User,
  subject: RepositorySubject,
  commit: Commit,
  { note, anchor }: { note: string; anchor: Anchor | null },
): Promise<NoteOutcome> {
  assertRules(commentRules, { note })
  const noteable = { ...subject, topic: noteableItemOf(subject, commit) }
  const position = anchor && ((await noteable.topic.resolvePosition?.(app, positionAt(anchor, commit))) ?? null)
  return position
    ? startDiscussion(app, author, noteable, { body: note }, position)
    : createNote(app, author, noteable, { body: note })
}

function positionAt({ path, line, line_type }: Anchor, { id, parents }: Commit): PositionInput {
  const base = parents[0] ?? ''
  const ends = { base_sha: base, start_sha: base, head_sha: id, position_type: 'text' } as const
  return line_type === 'new' ? { ...ends, new_path: path, new_line: line } : { ...ends, old_path: path, old_line: line }
}
