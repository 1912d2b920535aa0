import type { Db } from '../../../store/database.ts'
import type { NoteableSubject } from '../../planning/notes/noteable.ts'

/** What someone is about to say of a merge request. */
export const draftsOf = (db: Db, { topic, viewer }: Pick<NoteableSubject, 'topic' | 'viewer'>) =>
  db
    .selectFrom('draft_notes')
    .selectAll()
    .where('merge_request_id', '=', topic.id)
    .where('author_id', '=', viewer?.id ?? 0)
    .orderBy('id')
