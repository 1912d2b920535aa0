import type { Db } from '../../../store/database.ts'
import type { NoteableSubject } from '../../planning/notes/noteable.ts'

/** The drafts of one user on a merge request. */
export const draftsOf = (db: Db, { topic, viewer }: Pick<NoteableSubject, 'topic' | 'viewer'>) =>
  db
    .selectFrom('draft_notes')
    .selectAll()
    .where('merge_request_id', '=', topic.id)
    .where('author_id', '=', viewer?.id ?? 0)
    .orderBy('id')
