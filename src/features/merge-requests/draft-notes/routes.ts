import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, longText, text } from '../../../api/wire.ts'
import { pageOfTexts } from '../../../store/pages.ts'
import { positionInput } from '../../planning/notes/positions.ts'
import { DraftNoteEntity, presentDraft } from './entity.ts'
import { draftsOf } from './drafts.ts'
import { draftNote, noteableOfDraft } from './queries.ts'
import { createDraft, deleteDraft, publishDrafts, updateDraft } from './service.ts'

const PATH = '/projects/:id/merge_requests/:merge_request_iid/draft_notes'
const ITEM = `${PATH}/:draft_note_id` as const

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List what one is about to say of a merge request',
  on: noteableOfDraft,
  allow: 'read',
  output: pageOf(DraftNoteEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfTexts(draftsOf(app.db, subject), 'note', page)
    return { total, items: items.map(presentDraft) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a draft of a note',
  on: draftNote,
  allow: 'read',
  output: DraftNoteEntity,
  handle: async ({ subject }) => presentDraft(subject.draft),
})

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a draft note on a merge request',
  // The rate limit counts the creation of drafts: publishing may create many notes at once.
  throttle: 'notes_create_limit',
  on: noteableOfDraft,
  allow: 'talk',
  limiter: 'git',
  input: z.object({
    note: longText,
    in_reply_to_discussion_id: text.nullish(),
    resolve_discussion: bool.nullish(),
    commit_id: text.nullish(),
    position: positionInput.nullish(),
  }),
  output: DraftNoteEntity,
  handle: async ({ app, viewer, subject, input }) => presentDraft(await createDraft(app, viewer, subject, input)),
})

const updating = (method: 'PUT' | 'POST') =>
  endpoint({
    method,
    path: ITEM,
    summary: 'Update a draft note',
    on: draftNote,
    allow: 'talk',
    limiter: 'git',
    status: 200,
    input: z.object({ note: longText.optional(), position: positionInput.nullish() }),
    output: DraftNoteEntity,
    handle: async ({ app, subject, input }) => presentDraft(await updateDraft(app, subject, subject.draft, input)),
  })

export const update = updating('PUT')
/** The method that gitbeaker uses. */
export const updateByPost = updating('POST')

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a draft note',
  on: draftNote,
  allow: 'read',
  changedAt: (subject) => subject.draft.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteDraft(app, subject.draft),
})

export const publish = endpoint({
  method: 'PUT',
  path: `${ITEM}/publish`,
  summary: 'Publish a draft note',
  on: draftNote,
  allow: 'talk',
  limiter: 'git',
  status: 204,
  output: null,
  handle: ({ app, viewer, subject }) => publishDrafts(app, viewer, subject, [subject.draft]),
})

export const publishAll = endpoint({
  method: 'POST',
  path: `${PATH}/bulk_publish`,
  summary: 'Publish all draft notes',
  on: noteableOfDraft,
  allow: 'talk',
  limiter: 'git',
  status: 204,
  output: null,
  handle: async ({ app, viewer, subject }) =>
    publishDrafts(app, viewer, subject, await draftsOf(app.db, subject).execute()),
})
