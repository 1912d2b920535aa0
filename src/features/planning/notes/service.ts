import { z } from 'zod'
import { faultsIn, filled } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { Owner } from '../../../lib/levels.ts'
import { loadEmoji, type FindEmoji } from '../../../lib/text/emoji.ts'
import { splitQuickActions, type QuickAction } from '../../../lib/text/quick-actions.ts'
import { mayRefer } from '../../../lib/text/references.ts'
import type { Db } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { hotInsert } from '../../../store/hot.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import { recordNote } from '../events/service.ts'
import { assertNoteAllowed } from './limits.ts'
import type { Note } from './model.ts'
import type { PositionInput, StoredPosition } from './positions.ts'
import { sizeOfDiscussion } from './queries.ts'
import { isResolved } from './resolving.ts'
import { newDiscussionId } from './system.ts'
import { finishTodos } from '../todos/service.ts'
import { seesInternal, type Obeyed, type Settle, type NoteableSubject, type NoteableItem } from './noteable.ts'

export interface NoteInput {
  readonly body: string
  /** Only for owners of the project. */
  readonly created_at?: string | null | undefined
  readonly internal?: boolean | null | undefined
  /** The commit of the noteable that the thread is about. */
  readonly commit?: string | null | undefined
  /** Published together with other notes. */
  readonly review?: true
}

// All notes of a discussion are loaded and shown at once.
const MOST_NOTES = 500
const MOST_BYTES = 8 * 1024 * 1024
const DISCUSSION_TOO_LONG = 'A discussion has at most 8 MB of text'

const noteRule = filled(z.string(), 1_000_000)

function assertValid(body: string, words: (faults: string) => string): void {
  const [fault] = faultsIn(noteRule, body)
  if (fault) throw new Refusal('bad_request', words(`{:note=>["${fault}"]}`))
}

export const assertSayable = (body: string): void => assertValid(body, (faults) => `400 Bad request - Note ${faults}`)

/** `note` is null if the text had only quick actions. */
export interface NoteOutcome {
  readonly note: Note | null
  readonly obeyed: Obeyed
}

const NOTHING: Obeyed = { changes: {}, summary: [] }

interface Received {
  readonly text: string
  readonly commands: readonly QuickAction[]
  readonly emoji: FindEmoji
  readonly settle: Settle | undefined
}

/** Runs before the transaction, which must wait only for the database. */
async function receive(
  app: App,
  { topic }: NoteableSubject,
  body: string,
  position: StoredPosition | null,
): Promise<Received> {
  const { text, commands } = topic.obey ? splitQuickActions(body, topic.actionable) : { text: body, commands: [] }
  if (text !== '' || commands.length === 0) assertSayable(text)
  const emoji: FindEmoji = commands.length > 0 ? await loadEmoji() : () => null
  return { text, commands, emoji, settle: await topic.heed?.(app, text, position) }
}

/** The position of a note in a thread and in a diff. */
interface State {
  readonly type: Note['type']
  readonly discussion_id: string
  readonly position?: StoredPosition | null
  /** The thread is already resolved. */
  readonly resolved?: boolean
}

export type Where =
  | { readonly alone: true }
  /** The first note of a thread, on a line or not. */
  | { readonly position: StoredPosition | null }
  | { readonly discussion: readonly Note[] }

/** Validates a note. The returned function writes it, in a transaction. */
export async function prepareNote(
  app: App,
  actor: User,
  subject: NoteableSubject,
  input: NoteInput,
  where: Where,
): Promise<(app: TransactionApp) => Promise<NoteOutcome>> {
  if ('discussion' in where) return prepareReply(app, actor, subject, where.discussion, input)
  const stored = 'position' in where ? where.position : null
  const received = await receive(app, subject, input.body, stored)
  const type = 'alone' in where ? null : stored ? 'DiffNote' : 'DiscussionNote'
  return (app) =>
    insertNote(app, actor, subject, input, received, { type, discussion_id: newDiscussionId(), position: stored })
}

async function prepareAndSay(
  app: App,
  actor: User,
  subject: NoteableSubject,
  input: NoteInput,
  where: Where,
): Promise<NoteOutcome> {
  return finished(app, await transact(app, await prepareNote(app, actor, subject, input, where)))
}

/** Creates a single note outside any thread. */
export const createNote = (app: App, actor: User, subject: NoteableSubject, input: NoteInput): Promise<NoteOutcome> =>
  prepareAndSay(app, actor, subject, input, { alone: true })

/** Creates the first note of a thread, on a line or not. */
export const startDiscussion = (
  app: App,
  actor: User,
  subject: NoteableSubject,
  input: NoteInput,
  stored: StoredPosition | null,
): Promise<NoteOutcome> => prepareAndSay(app, actor, subject, input, { position: stored })

export const reply = (
  app: App,
  actor: User,
  subject: NoteableSubject,
  discussion: readonly Note[],
  input: NoteInput,
): Promise<NoteOutcome> => prepareAndSay(app, actor, subject, input, { discussion })

const NOT_INTERNAL = '400 Bad request - Note {:confidential=>["can not be set for this resource"]}'
const MISPLACED = '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}'

export async function positionIn(
  app: App,
  { resolvePosition }: NoteableItem,
  position: PositionInput | null | undefined,
  commit: string | null = null,
): Promise<StoredPosition | null> {
  if (!position || !resolvePosition) return null
  const stored = await resolvePosition(app, position, commit)
  if (!stored) throw new Refusal('bad_request', MISPLACED)
  return stored
}

function positionsOf({ position, line_code, original_position }: Note): StoredPosition | null {
  if (position === null) return null
  const original = original_position === null ? null : (JSON.parse(original_position) as StoredPosition['position'])
  return { position: JSON.parse(position) as StoredPosition['position'], line_code, original }
}

/** A single note becomes the first of a thread. Replies to an internal note are internal, too. */
async function prepareReply(
  app: App,
  actor: User,
  subject: NoteableSubject,
  discussion: readonly Note[],
  input: NoteInput,
): Promise<(app: TransactionApp) => Promise<NoteOutcome>> {
  const first = discussion[0]!
  if (first.system) throw forbidden()
  const { discussion_id, internal, thread_commit_sha: commit } = first
  const type = first.type ?? 'DiscussionNote'
  const received = await receive(app, subject, input.body, positionsOf(first))
  return async (app) => {
    const locked = await lockNote(app, first.id)
    const { notes, bytes } = await sizeOfDiscussion(app.db, discussion_id)
    if (notes >= MOST_NOTES) throw new Refusal('bad_request', `A discussion has at most ${MOST_NOTES} notes`)
    if (bytes + Buffer.byteLength(received.text) > MOST_BYTES) throw new Refusal('bad_request', DISCUSSION_TOO_LONG)
    // A reply to a resolved thread does not reopen it.
    const resolved = subject.topic.threads !== undefined && (await isResolved(app, discussion_id))
    if (locked.type === null && received.text !== '')
      await app.db.updateTable('notes').set({ type }).where('id', '=', first.id).execute()
    const state = { type, discussion_id, position: positionsOf(locked), resolved }
    return insertNote(app, actor, subject, { ...input, internal, commit }, received, state)
  }
}

/** Locks the row until the transaction ends, and returns its current state. */
async function lockNote({ db }: TransactionApp, id: number): Promise<Note> {
  const note = await db
    .selectFrom('notes')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!note) throw notFound() // deleted by another request meanwhile
  return note
}

/** Finishes quick actions after the transaction. */
export const finished = async (app: App, { note, obeyed }: NoteOutcome): Promise<NoteOutcome> => ({
  note,
  obeyed: (await obeyed.after?.(app)) ?? obeyed,
})

const insertNotes = hotInsert('notes', [
  'project_id',
  'issue_id',
  'merge_request_id',
  'commit_sha',
  'snippet_id',
  'discussion_id',
  'type',
  'author_id',
  'body',
  'internal',
  'thread_commit_sha',
  'position',
  'line_code',
  'original_position',
  'resolved_at',
  'resolved_by_id',
  'created_at',
  'updated_at',
])

const insertRow = async (db: Db, row: Parameters<typeof insertNotes>[1][number]): Promise<Note> =>
  (await insertNotes(db, [row]))[0]!

async function insertNote(
  app: App,
  actor: User,
  subject: NoteableSubject,
  { created_at, internal, commit, review }: NoteInput,
  { text, commands, emoji, settle }: Received,
  { type, discussion_id, position, resolved = false }: State,
): Promise<NoteOutcome> {
  if (internal && !['Issue', 'MergeRequest'].includes(subject.topic.type))
    throw new Refusal('bad_request', NOT_INTERNAL)
  if (internal && !seesInternal(subject)) throw forbidden()
  const now = timestamp(app.clock)
  const at = (subject.level >= Owner && created_at) || now
  const { topic } = subject
  const created = transact(app, async (app) => {
    if (text !== '') await assertNoteAllowed(app, topic.noteable, internal ?? false)
    const note =
      text === ''
        ? null
        : await insertRow(app.db, {
            ...topic.noteable,
            discussion_id,
            type,
            author_id: actor.id,
            body: text,
            internal: internal ?? false,
            thread_commit_sha: commit ?? null,
            position: position ? JSON.stringify(position.position) : null,
            line_code: position?.line_code ?? null,
            original_position: position?.original ? JSON.stringify(position.original) : null,
            resolved_at: resolved ? now : null,
            resolved_by_id: resolved ? actor.id : null,
            created_at: at,
            updated_at: at,
          })
    if (note) {
      await settle?.(app, note)
      await topic.touch?.(app)
      // A note marks the author's earlier to-do items as done. Later ones, including those of its own quick actions,
      // stay pending.
      if (!('snippet_id' in topic.noteable)) await finishTodos(app, actor.id, topic.noteable)
      await recordNote(app, note)
      await emit(app, 'note.created', {
        id: note.id,
        project_id: note.project_id,
        by: actor.id,
        ...(review && { review }),
        ...(!mayRefer(note.body) && { plain: true }),
        recorded: true,
      })
    }
    const obeyed = commands.length > 0 && topic.obey ? await topic.obey(app, actor, commands, emoji) : NOTHING
    return { note, obeyed }
  })
  return unlessOrphan(created, notFound)
}

/** System notes cannot be edited. */
export async function updateNote(app: App, actor: User, topic: NoteableItem, seen: Note, body: string): Promise<Note> {
  const { id, system } = seen
  if (!system) assertValid(body, (faults) => `Failed to save note ${faults}`)
  const settle = system ? undefined : await topic.heed?.(app, body, positionsOf(seen))
  return transact(app, async (app) => {
    const note = await lockNote(app, id)
    if (system || note.body === body) return note
    const { bytes } = await sizeOfDiscussion(app.db, note.discussion_id)
    const more = Buffer.byteLength(body) - Buffer.byteLength(note.body)
    if (more > 0 && bytes + more > MOST_BYTES) throw new Refusal('bad_request', DISCUSSION_TOO_LONG)
    const updated = await app.db
      .updateTable('notes')
      .set({ body, updated_by_id: actor.id, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await settle?.(app, updated)
    await emit(app, 'note.updated', { id, project_id: updated.project_id, by: actor.id, was: note.body })
    return updated
  })
}

export async function deleteNote(app: App, actor: User, { id, project_id }: Note): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('notes').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
    await emit(app, 'note.deleted', { id, project_id, by: actor.id })
  })
}
