/** Discussions of noteables. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, longText, text } from '../../../api/wire.ts'
import { Refusal, badParameter, forbidden } from '../../../errors.ts'
import { onlyObeyed, presentNoteOutcome, sayInput } from '../notes/endpoints.ts'
import { NoteEntity, isResolvable } from '../notes/entity.ts'
import { positionInput } from '../notes/positions.ts'
import { findNote, notePolicy, presentOneNote } from '../notes/queries.ts'
import { resolveNotes } from '../notes/resolving.ts'
import { deleteNote, positionIn, reply, startDiscussion, updateNote } from '../notes/service.ts'
import type { NoteableKind } from '../notes/noteable.ts'
import { DiscussionEntity } from './entity.ts'
import { renderDiscussions } from './rendering.ts'
import { discussionOf, findDiscussion, listDiscussions, noteOfDiscussion, presentDiscussions } from './queries.ts'

const oneOfBoth = (problem: string) => badParameter(`body, resolved are ${problem}`)

export function discussionsOn(noteable: NoteableKind) {
  const path = `${noteable.path}/discussions` as const
  const topic = noteable.named('Discussion')
  const discussion = discussionOf(topic)
  const note = noteOfDiscussion(topic)
  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List the discussions of ${noteable.noun}`,
      on: noteable.named('Discussions'),
      allow: 'read',
      by: noteable.by,
      input: z.object({ render_html: bool.nullish() }),
      output: pageOf(DiscussionEntity),
      async handle({ app, subject, input, page }) {
        const { items, total } = await listDiscussions(app, subject, page, { isCut: Boolean(input.render_html) })
        const shown = await presentDiscussions(app, subject.topic, items)
        return { total, items: input.render_html ? await renderDiscussions(app, subject, shown) : shown }
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/:discussion_id`,
      summary: `Get a discussion of ${noteable.noun}`,
      on: discussion,
      allow: 'read',
      by: noteable.by,
      output: DiscussionEntity,
      handle: async ({ app, subject }) => (await presentDiscussions(app, subject.topic, [subject.discussion]))[0]!,
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Create a discussion on ${noteable.noun}`,
      throttle: 'notes_create_limit',
      on: topic,
      allow: 'talk',
      alsoAsks: ['read internal notes, for an internal note'],
      ...noteable.writing,
      input: z.object({
        ...sayInput,
        internal: bool.nullish(),
        confidential: bool.nullish(),
        commit_id: text.nullish(),
        position: positionInput.nullish(),
      }),
      output: DiscussionEntity,
      async handle({ app, viewer, subject, input: { position, commit_id, confidential, ...rest } }) {
        const commit = commit_id ? await subject.topic.commitNamed?.(app, commit_id) : null
        const stored = await positionIn(app, subject.topic, position, commit)
        const request = { ...rest, commit, internal: rest.internal ?? confidential }
        const { note, obeyed } = await startDiscussion(app, viewer, subject, request, stored)
        return note ? (await presentDiscussions(app, subject.topic, [[note]]))[0]! : onlyObeyed(obeyed)
      },
    }),

    addNote: endpoint({
      method: 'POST',
      path: `${path}/:discussion_id/notes`,
      summary: `Reply to a discussion of ${noteable.noun}`,
      throttle: 'notes_create_limit',
      on: discussion,
      allow: 'talk',
      ...noteable.writing,
      input: z.object(sayInput),
      output: NoteEntity,
      handle: async ({ app, viewer, subject, input }) =>
        presentNoteOutcome(app, subject.topic, await reply(app, viewer, subject, subject.discussion, input)),
    }),

    getNote: endpoint({
      method: 'GET',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Get a note in a discussion of ${noteable.noun}`,
      on: note,
      allow: 'read',
      by: noteable.by,
      output: NoteEntity,
      handle: ({ app, subject }) => presentOneNote(app, subject.topic, subject.note),
    }),

    updateNote: endpoint({
      method: 'PUT',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Update a note in a discussion of ${noteable.noun}`,
      on: note,
      allow: 'alterOrResolve',
      alsoAsks: ['alter the note, for its text'],
      ...noteable.writing,
      input: z.object({ body: longText.optional(), resolved: bool.optional() }),
      output: NoteEntity,
      async handle({ app, viewer, subject, input: { body, resolved } }) {
        if (body !== undefined && resolved !== undefined) throw oneOfBoth('mutually exclusive')
        if (body === undefined && resolved === undefined) {
          throw oneOfBoth('missing, exactly one parameter must be provided')
        }
        const { topic, note } = subject
        if (body !== undefined) {
          if (!notePolicy.alter(subject)) throw forbidden()
          return presentOneNote(app, topic, await updateNote(app, viewer, topic, note, body))
        }
        if (!topic.threads) throw new Refusal('bad_request', `Notes on ${noteable.noun} are not resolvable`)
        if (!isResolvable(topic, note)) throw new Refusal('bad_request', 'This note is not resolvable')
        await resolveNotes(app, viewer, topic, { id: note.id }, resolved!)
        return presentOneNote(app, topic, (await findNote(app.db, note.id)) ?? note)
      },
    }),

    destroyNote: endpoint({
      method: 'DELETE',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Delete a note in a discussion of ${noteable.noun}`,
      on: note,
      allow: 'destroy',
      changedAt: (subject) => subject.note.updated_at,
      output: null,
      handle: ({ app, viewer, subject }) => deleteNote(app, viewer, subject.note),
    }),
  }
}

/** Endpoints for threads that can be resolved. */
export function resolvingOn(noteable: NoteableKind) {
  return {
    resolve: endpoint({
      method: 'PUT',
      path: `${noteable.path}/discussions/:discussion_id`,
      summary: `Resolve or reopen a discussion of ${noteable.noun}`,
      on: discussionOf(noteable.named('Discussion')),
      allow: 'resolve',
      input: z.object({ resolved: bool }),
      output: DiscussionEntity,
      async handle({ app, viewer, subject, input: { resolved } }) {
        const { topic, discussion } = subject
        if (!discussion.some((note) => isResolvable(topic, note)))
          throw new Refusal('bad_request', 'This discussion is not resolvable')
        const { discussion_id } = discussion[0]!
        await resolveNotes(app, viewer, topic, { discussion_id }, resolved)
        const now = await findDiscussion(app, subject, discussion_id)
        return (await presentDiscussions(app, topic, [now ?? discussion]))[0]!
      },
    }),
  }
}
