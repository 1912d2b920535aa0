import { sql } from 'kysely'
import type { z } from 'zod'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Note } from '../notes/model.ts'
import { notePolicy, notesSeen, presentNotes } from '../notes/queries.ts'
import type { TalkSubject, Topic, TopicResource } from '../notes/talk.ts'
import { withoutHidden } from '../references/hidden.ts'
import type { DiscussionEntity } from './entity.ts'

/** Notes of one discussion, oldest first; never none. */
export type Discussion = readonly Note[]

/** In the order in which they began. */
export async function listDiscussions(app: App, subject: TalkSubject, page: PageWish): Promise<Page<Discussion>> {
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
  const wanted = ids.map(({ discussion_id }) => discussion_id)
  const byId = Map.groupBy(await notesIn(app, subject, wanted), ({ discussion_id }) => discussion_id)
  return { total: Number(counted.total), items: wanted.flatMap((one) => [byId.get(one)].filter((notes) => !!notes)) }
}

async function notesIn(app: App, subject: TalkSubject, discussions: readonly string[]): Promise<Note[]> {
  if (discussions.length === 0) return []
  const notes = notesSeen(app.db, subject)
    .selectAll()
    .where('discussion_id', 'in', [...discussions])
  return withoutHidden(app, subject.viewer, await notes.orderBy('id').execute())
}

export async function findDiscussion(app: App, subject: TalkSubject, id: string): Promise<Discussion | null> {
  const notes = await notesIn(app, subject, [id])
  return notes.length === 0 ? null : notes
}

export const discussionOf = (topic: TopicResource) =>
  child(topic, {
    name: 'Discussion',
    key: 'discussion',
    params: { discussion_id: text },
    find: (app, subject, { discussion_id }): Promise<Discussion | null> => findDiscussion(app, subject, discussion_id),
  })

export const noteOfDiscussion = (topic: TopicResource) =>
  child(discussionOf(topic), {
    key: 'note',
    params: { note_id: id },
    policy: notePolicy,
    find: async (_app, { discussion }, { note_id }) => discussion.find((note) => note.id === note_id),
  })

export async function presentDiscussions(
  app: App,
  topic: Topic,
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
