import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import { mergeRequestTalk } from '../talk/talk.ts'
import { draftsOf } from './drafts.ts'

export const topic = mergeRequestTalk.named()

/** Nobody else finds it. */
export const draftNote = child(topic, {
  key: 'draft',
  params: { draft_note_id: id },
  find: ({ db }, subject, { draft_note_id }) =>
    draftsOf(db, subject).where('id', '=', draft_note_id).executeTakeFirst(),
})
