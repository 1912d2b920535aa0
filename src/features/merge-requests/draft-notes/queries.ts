import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import type { TalkSubject } from '../../planning/notes/talk.ts'
import { mergeRequestTalk } from '../talk/talk.ts'

/** What someone is about to say of a merge request. */
export const draftsOf = (db: Db, { topic, viewer }: TalkSubject) =>
  db
    .selectFrom('draft_notes')
    .selectAll()
    .where('merge_request_id', '=', topic.id)
    .where('author_id', '=', viewer?.id ?? 0)
    .orderBy('id')

export const topic = mergeRequestTalk.named()

/** Nobody else finds it. */
export const draftNote = child(topic, {
  key: 'draft',
  params: { draft_note_id: id },
  find: ({ db }, subject, { draft_note_id }) =>
    draftsOf(db, subject).where('id', '=', draft_note_id).executeTakeFirst(),
})
