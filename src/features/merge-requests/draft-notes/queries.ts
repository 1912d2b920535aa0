import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import { mergeRequestNoteable } from '../notes/noteable.ts'
import { draftsOf } from './drafts.ts'

export const noteableOfDraft = mergeRequestNoteable.named()

/** Only the author finds a draft. */
export const draftNote = child(noteableOfDraft, {
  key: 'draft',
  params: { draft_note_id: id },
  find: ({ db }, subject, { draft_note_id }) =>
    draftsOf(db, subject).where('id', '=', draft_note_id).executeTakeFirst(),
})
