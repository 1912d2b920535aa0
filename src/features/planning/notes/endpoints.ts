/** Notes of noteables. */
import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { blankable, bool, longText, moment, oneOf } from '../../../api/wire.ts'
import { withoutHidden } from '../references/hidden.ts'
import { NoteEntity } from './entity.ts'
import { ACTIVITIES, listNotes, noteOf, presentNotes, presentOneNote } from './queries.ts'
import { createNote, deleteNote, updateNote, type NoteOutcome } from './service.ts'
import type { Obeyed, NoteableKind, NoteableItem } from './noteable.ts'

/** The text, and a creation time that only owners may set. */
export const sayInput = { body: longText, created_at: blankable(moment) }

/** The answer where the text had only quick actions. */
export const onlyObeyed = ({ changes, summary }: Obeyed) => new Answer(202, { commands_changes: changes, summary })

export const presentNoteOutcome = async (app: App, topic: NoteableItem, { note, obeyed }: NoteOutcome) =>
  note ? presentOneNote(app, topic, note, obeyed.changes) : onlyObeyed(obeyed)

export function notesOn(noteable: NoteableKind) {
  const path = `${noteable.path}/notes` as const
  const topic = noteable.named('Note')
  const note = noteOf(topic)
  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List the notes on ${noteable.noun}`,
      on: noteable.named('Notes'),
      allow: 'read',
      by: noteable.by,
      input: z.object({
        order_by: oneOf('created_at', 'updated_at').nullish(),
        sort: oneOf('asc', 'desc').nullish(),
        activity_filter: oneOf(...ACTIVITIES).nullish(),
      }),
      output: pageOf(NoteEntity),
      async handle({ app, subject, input, page }) {
        const { items, total } = await listNotes(app.db, subject, input, page)
        const seen = await withoutHidden(app, subject.viewer, items)
        return { total, items: await presentNotes(app, subject.topic, seen) }
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/:note_id`,
      summary: `Get a note on ${noteable.noun}`,
      on: note,
      allow: 'read',
      by: noteable.by,
      output: NoteEntity,
      handle: ({ app, subject }) => presentOneNote(app, subject.topic, subject.note),
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Comment on ${noteable.noun}`,
      throttle: 'notes_create_limit',
      on: topic,
      allow: 'talk',
      alsoAsks: ['read internal notes, for an internal note'],
      input: z.object({ ...sayInput, internal: bool.nullish(), confidential: bool.nullish() }),
      output: NoteEntity,
      async handle({ app, viewer, subject, input: { confidential, ...input } }) {
        const request = { ...input, internal: input.internal ?? confidential }
        return presentNoteOutcome(app, subject.topic, await createNote(app, viewer, subject, request))
      },
    }),

    update: endpoint({
      method: 'PUT',
      path: `${path}/:note_id`,
      summary: `Update a note on ${noteable.noun}`,
      on: note,
      allow: 'alter',
      ...noteable.writing,
      input: z.object({ body: longText }),
      output: NoteEntity,
      handle: async ({ app, viewer, subject, input }) =>
        presentOneNote(app, subject.topic, await updateNote(app, viewer, subject.topic, subject.note, input.body)),
    }),

    destroy: endpoint({
      method: 'DELETE',
      path: `${path}/:note_id`,
      summary: `Delete a note on ${noteable.noun}`,
      on: note,
      allow: 'destroy',
      changedAt: (subject) => subject.note.updated_at,
      output: null,
      handle: ({ app, viewer, subject }) => deleteNote(app, viewer, subject.note),
    }),
  }
}
