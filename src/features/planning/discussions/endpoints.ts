/** Discussions of whatever is talked about. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, longText } from '../../../api/wire.ts'
import { Refusal, badParameter } from '../../../errors.ts'
import { onlyObeyed, presentSaid, sayInput } from '../notes/endpoints.ts'
import { NoteEntity } from '../notes/entity.ts'
import { positionInput } from '../notes/positions.ts'
import { presentOneNote } from '../notes/queries.ts'
import { deleteNote, placeIn, reply, startDiscussion, updateNote } from '../notes/service.ts'
import type { Talk } from '../notes/talk.ts'
import { DiscussionEntity } from './entity.ts'
import { discussionOf, listDiscussions, noteOfDiscussion, presentDiscussions } from './queries.ts'

const oneOfBoth = (problem: string) => badParameter(`body, resolved are ${problem}`)

export function discussionsOn(talk: Talk) {
  const path = `${talk.path}/discussions` as const
  const topic = talk.named('Discussion')
  const discussion = discussionOf(topic)
  const note = noteOfDiscussion(topic)
  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List the discussions of ${talk.noun}`,
      on: talk.named('Discussions'),
      allow: 'read',
      guest: true,
      output: pageOf(DiscussionEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await listDiscussions(app, subject, page)
        return { total, items: await presentDiscussions(app, subject.topic, items) }
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/:discussion_id`,
      summary: `Get a discussion of ${talk.noun}`,
      on: discussion,
      allow: 'read',
      guest: true,
      output: DiscussionEntity,
      handle: async ({ app, subject }) => (await presentDiscussions(app, subject.topic, [subject.discussion]))[0]!,
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Begin a discussion of ${talk.noun}`,
      on: topic,
      allow: 'talk',
      input: z.object({ ...sayInput, internal: bool.nullish(), position: positionInput.nullish() }),
      output: DiscussionEntity,
      async handle({ app, viewer, subject, input: { position, ...wish } }) {
        const placed = await placeIn(subject.topic, position)
        const { note, obeyed } = await startDiscussion(app, viewer, subject, wish, placed)
        return note ? (await presentDiscussions(app, subject.topic, [[note]]))[0]! : onlyObeyed(obeyed)
      },
    }),

    addNote: endpoint({
      method: 'POST',
      path: `${path}/:discussion_id/notes`,
      summary: `Say something in a discussion of ${talk.noun}`,
      on: discussion,
      allow: 'talk',
      input: z.object(sayInput),
      output: NoteEntity,
      handle: async ({ app, viewer, subject, input }) =>
        presentSaid(app, subject.topic, await reply(app, viewer, subject, subject.discussion, input)),
    }),

    getNote: endpoint({
      method: 'GET',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Get a note in a discussion of ${talk.noun}`,
      on: note,
      allow: 'read',
      guest: true,
      output: NoteEntity,
      handle: ({ app, subject }) => presentOneNote(app, subject.topic, subject.note),
    }),

    updateNote: endpoint({
      method: 'PUT',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Change a note in a discussion of ${talk.noun}`,
      on: note,
      allow: 'alter',
      input: z.object({ body: longText.optional(), resolved: bool.optional() }),
      output: NoteEntity,
      async handle({ app, viewer, subject, input: { body, resolved } }) {
        if (body !== undefined && resolved !== undefined) throw oneOfBoth('mutually exclusive')
        if (body === undefined && resolved === undefined) {
          throw oneOfBoth('missing, exactly one parameter must be provided')
        }
        if (body === undefined) throw new Refusal('bad_request', `Notes on ${talk.noun} are not resolvable`)
        return presentOneNote(app, subject.topic, await updateNote(app, viewer, subject.note, body))
      },
    }),

    destroyNote: endpoint({
      method: 'DELETE',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Delete a note in a discussion of ${talk.noun}`,
      on: note,
      allow: 'destroy',
      changedAt: (subject) => subject.note.updated_at,
      output: null,
      handle: ({ app, viewer, subject }) => deleteNote(app, viewer, subject.note),
    }),
  }
}
