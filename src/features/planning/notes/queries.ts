import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Master } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfTexts } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { withoutHidden } from '../references/hidden.ts'
import { presentNote, type NoteRecord } from './entity.ts'
import type { Note } from './model.ts'
import { keyOf } from './system.ts'
import {
  seesInternal,
  noteablePolicy,
  type NoteableSubject,
  type NoteableItem,
  type NoteableResource,
} from './noteable.ts'

/** The notes of a noteable that the viewer may see. */
export function notesSeen(db: Db, subject: NoteableSubject) {
  const { noteable } = subject.topic
  const notes = db.selectFrom('notes').$if(!seesInternal(subject), (query) => query.where('internal', '=', false))
  return notes.where((eb) => eb.and(keyOf(noteable)))
}

export const ACTIVITIES = ['all_notes', 'only_comments', 'only_activity'] as const

export interface NoteFilter {
  readonly activity_filter?: (typeof ACTIVITIES)[number] | null | undefined
  readonly order_by?: 'created_at' | 'updated_at' | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
}

export function listNotes(
  db: Db,
  subject: NoteableSubject,
  filter: NoteFilter,
  page: PageRequest,
): Promise<Page<Note>> {
  const { activity_filter = 'all_notes', order_by, sort } = filter
  const notes = notesSeen(db, subject)
    .selectAll()
    .$if(activity_filter === 'only_comments', (query) => query.where('system', '=', false))
    .$if(activity_filter === 'only_activity', (query) => query.where('system', '=', true))
    .orderBy(order_by ?? 'created_at', sort ?? 'desc')
    .orderBy('id', sort ?? 'desc')
  return pageOfTexts(notes, 'body', page)
}

export interface NoteSubject extends NoteableSubject {
  readonly note: Note
}

const mayAlter = (s: NoteSubject) => noteablePolicy.talk(s) && (s.note.author_id === s.viewer?.id || s.level >= Master)
/** The author of a note may resolve it, too. */
const mayResolve = (s: NoteSubject) =>
  noteablePolicy.resolve(s) ||
  (noteablePolicy.talk(s) && s.topic.threads !== undefined && s.note.author_id === s.viewer?.id)
const mayDestroy = (s: NoteSubject) => mayAlter(s) && !s.note.system

/** The policy of a note on any noteable. */
export const notePolicy = {
  read: () => true,
  alter: mayAlter,
  alterOrResolve: (s: NoteSubject) => mayAlter(s) || mayResolve(s),
  destroy: mayDestroy,
}

/** A note of a noteable. Internal notes are not found by viewers who may not see them. */
export const noteOf = (topic: NoteableResource, named: { name?: string } = {}) =>
  child(topic, {
    ...named,
    key: 'note',
    params: { note_id: id },
    policy: notePolicy,
    async find(app, subject, { note_id }) {
      const found = await notesSeen(app.db, subject).selectAll().where('id', '=', note_id).execute()
      return (await withoutHidden(app, subject.viewer, found))[0]
    },
  })

export async function presentNotes(app: App, topic: NoteableItem, notes: readonly Note[]): Promise<NoteRecord[]> {
  const onLines = notes.filter(({ type }) => type === 'DiffNote')
  const [around, people, proposed] = await Promise.all([
    surroundings(app),
    withUsers(app.db, notes, { author: 'author_id', resolver: 'resolved_by_id' }),
    onLines.length > 0 ? topic.suggestions?.(app, onLines) : undefined,
  ])
  return people.map((note) => {
    const own = note.type === 'DiffNote' ? proposed && (proposed.get(note.id) ?? []) : undefined
    return presentNote(note, topic, around, own)
  })
}

export async function presentOneNote(
  app: App,
  topic: NoteableItem,
  note: Note,
  changes: Record<string, unknown> = {},
): Promise<NoteRecord> {
  const [record] = await presentNotes(app, topic, [note])
  return { ...record!, commands_changes: changes }
}

export const findNote = (db: Db, id: number): Promise<Note | undefined> =>
  db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()

/** The number of notes and bytes of a discussion, including notes the viewer may not see. */
export async function sizeOfDiscussion(db: Db, discussion: string): Promise<{ notes: number; bytes: number }> {
  const { notes, bytes } = await db
    .selectFrom('notes')
    .select([sql<number>`count(*)`.as('notes'), sql<number>`coalesce(sum(octet_length(body)), 0)`.as('bytes')])
    .where('discussion_id', '=', discussion)
    .executeTakeFirstOrThrow()
  return { notes: Number(notes), bytes: Number(bytes) }
}
