import { sql } from 'kysely'
import type { z } from 'zod'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { fairShare } from '../../../lib/async/fair-share.ts'
import { assertSmallTexts } from '../../../store/pages.ts'
import { REST_OF_NOTE, type Note } from '../notes/model.ts'
import { notePolicy, notesSeen, presentNotes } from '../notes/queries.ts'
import type { NoteableSubject, NoteableItem, NoteableResource } from '../notes/noteable.ts'
import { withoutHidden } from '../references/hidden.ts'
import type { DiscussionEntity } from './entity.ts'

/** Notes of one discussion, oldest first; never empty. */
export type Discussion = readonly Note[]

/** In the order in which the discussions began. `isCut` shortens long texts for display. */
export async function listDiscussions(
  app: App,
  subject: NoteableSubject,
  page: PageRequest,
  { isCut }: { isCut: boolean },
): Promise<Page<Discussion>> {
  const { db } = app
  const seen = notesSeen(db, subject)
  const [ids, counted] = await Promise.all([
    seen
      .select(['discussion_id', sql<number>`min(id)`.as('first')])
      .groupBy('discussion_id')
      .orderBy('first')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    seen.select(sql<number>`count(distinct discussion_id)`.as('total')).executeTakeFirstOrThrow(),
  ])
  const discussionIds = ids.map(({ discussion_id }) => discussion_id)
  const found =
    discussionIds.length === 0 ? [] : await listedNotes(notesOfThese(app, subject, discussionIds), { isCut, ...page })
  const notes = await withoutHidden(app, subject.viewer, found)
  const byId = Map.groupBy(notes, ({ discussion_id }) => discussion_id)
  return {
    total: Number(counted.total),
    items: discussionIds.flatMap((one) => [byId.get(one)].filter((notes) => !!notes)),
  }
}

const notesOfThese = (app: App, subject: NoteableSubject, discussions: readonly string[]) =>
  notesSeen(app.db, subject)
    .where('discussion_id', 'in', [...discussions])
    .orderBy('id')

type NotesQuery = ReturnType<typeof notesOfThese>

async function listedNotes(query: NotesQuery, { isCut, limit }: { isCut: boolean; limit: number }): Promise<Note[]> {
  if (isCut) return cutNotes(query)
  if (limit > 1) await assertSmallTexts(query, 'body')
  return query.selectAll().execute()
}

/** The maximum number of characters of all notes of a page. */
const MOST_SHOWN = 1024 * 1024
const CUT_MARK = ' […]'

/** Cuts only the longest notes. */
async function cutNotes(query: NotesQuery): Promise<Note[]> {
  const sizes = await query.select(sql<number>`octet_length(body)`.as('bytes')).execute()
  const most = fairShare(
    sizes.map(({ bytes }) => Number(bytes)),
    MOST_SHOWN,
  )
  if (most === Infinity) return query.selectAll().execute()
  const start = sql<string>`case when octet_length(body) > ${most} then substr(body, 1, ${most}) || ${CUT_MARK} else body end`
  return query.select([...REST_OF_NOTE, start.as('body')]).execute()
}

export async function findDiscussion(app: App, subject: NoteableSubject, id: string): Promise<Discussion | null> {
  const found = await notesOfThese(app, subject, [id]).selectAll().execute()
  const notes = await withoutHidden(app, subject.viewer, found)
  return notes.length === 0 ? null : notes
}

export const discussionOf = (topic: NoteableResource) =>
  child(topic, {
    name: 'Discussion',
    key: 'discussion',
    params: { discussion_id: text },
    find: (app, subject, { discussion_id }): Promise<Discussion | null> => findDiscussion(app, subject, discussion_id),
  })

export const noteOfDiscussion = (topic: NoteableResource) =>
  child(discussionOf(topic), {
    key: 'note',
    params: { note_id: id },
    policy: notePolicy,
    find: async (_app, { discussion }, { note_id }) => discussion.find((note) => note.id === note_id),
  })

export async function presentDiscussions(
  app: App,
  topic: NoteableItem,
  discussions: readonly Discussion[],
): Promise<z.infer<typeof DiscussionEntity>[]> {
  const records = await presentNotes(app, topic, discussions.flat())
  const byId = new Map(records.map((record) => [record.id, record]))
  return discussions.map((notes) => ({
    id: notes[0]!.discussion_id,
    individual_note: notes[0]!.type === null,
    notes: notes.map(({ id }) => byId.get(id)!),
  }))
}
