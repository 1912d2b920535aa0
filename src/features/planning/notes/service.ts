import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { Owner } from '../../../lib/levels.ts'
import { loadEmoji, type FindEmoji } from '../../../lib/emoji.ts'
import { splitQuickActions, type QuickAction } from '../../../lib/quick-actions.ts'
import { isOrphan, locksRows } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Note } from './model.ts'
import type { GivenPosition, Placed } from './positions.ts'
import { countDiscussion } from './queries.ts'
import { isResolved } from './resolving.ts'
import { newDiscussionId } from './system.ts'
import { seesInternal, type Obeyed, type TalkSubject, type Topic } from './talk.ts'

export interface NoteWish {
  readonly body: string
  /** For those who own the project. */
  readonly created_at?: string | null | undefined
  readonly internal?: boolean | null | undefined
}

const LONGEST_NOTE = 1_000_000
/** All notes of a discussion are read and shown at once. */
const MOST_NOTES = 500

function faultsIn(body: string): string | null {
  if (body.trim() === '') return '{:note=>["can\'t be blank"]}'
  return body.length > LONGEST_NOTE ? `{:note=>["is too long (maximum is ${LONGEST_NOTE} characters)"]}` : null
}

function assertValid(body: string, words: (faults: string) => string): void {
  const faults = faultsIn(body)
  if (faults) throw new Refusal('bad_request', words(faults))
}

/** A text of commands alone leaves no note. */
export interface Said {
  readonly note: Note | null
  readonly obeyed: Obeyed
}

const NOTHING: Obeyed = { changes: {}, summary: [] }

interface Heard {
  readonly text: string
  readonly commands: readonly QuickAction[]
  readonly emoji: FindEmoji
}

/** Before the transaction, which awaits the store only. */
async function hear({ topic }: TalkSubject, body: string): Promise<Heard> {
  const { text, commands } = topic.obey ? splitQuickActions(body, topic.actionable) : { text: body, commands: [] }
  if (text !== '' || commands.length === 0) assertValid(text, (faults) => `400 Bad request - Note ${faults}`)
  return { text, commands, emoji: commands.length > 0 ? await loadEmoji() : () => null }
}

/** How a note comes to stand where it does. */
interface Standing {
  readonly type: Note['type']
  readonly discussion_id: string
  readonly placed?: Placed | null
  /** In a thread that is resolved already. */
  readonly resolved?: boolean
}

/** One that stands alone. */
export const createNote = (app: App, actor: User, subject: TalkSubject, wish: NoteWish): Promise<Said> =>
  hearAndSay(app, actor, subject, wish, { type: null, discussion_id: newDiscussionId() })

/** The first one of a discussion, or of one about a line. */
export const startDiscussion = (
  app: App,
  actor: User,
  subject: TalkSubject,
  wish: NoteWish,
  placed: Placed | null,
): Promise<Said> =>
  hearAndSay(app, actor, subject, wish, {
    type: placed ? 'DiffNote' : 'DiscussionNote',
    discussion_id: newDiscussionId(),
    placed,
  })

const NOT_INTERNAL = '400 Bad request - Note {:confidential=>["can not be set for this resource"]}'
const MISPLACED = '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}'

export async function placeIn(
  app: App,
  { place }: Topic,
  position: GivenPosition | null | undefined,
): Promise<Placed | null> {
  if (!position || !place) return null
  const placed = await place(app, position)
  if (!placed) throw new Refusal('bad_request', MISPLACED)
  return placed
}

/** A note that stood alone becomes the first one of a discussion. Answers to what is internal are so too. */
export async function reply(
  app: App,
  actor: User,
  subject: TalkSubject,
  discussion: readonly Note[],
  wish: NoteWish,
): Promise<Said> {
  const first = discussion[0]!
  if (first.system) throw forbidden()
  const { discussion_id, internal, position, line_code, original_position } = first
  const type = first.type ?? 'DiscussionNote'
  const placed =
    position === null
      ? null
      : {
          position: JSON.parse(position) as Placed['position'],
          line_code,
          original: original_position === null ? null : (JSON.parse(original_position) as Placed['position']),
        }
  const heard = await hear(subject, wish.body)
  const said = await transact(app, async (app) => {
    await holdNote(app, first.id)
    if ((await countDiscussion(app.db, discussion_id)) >= MOST_NOTES) {
      throw new Refusal('bad_request', `A discussion has at most ${MOST_NOTES} notes`)
    }
    // What is said in a thread that is over does not open it again.
    const resolved = subject.topic.threads !== undefined && (await isResolved(app, discussion_id))
    if (first.type === null && heard.text !== '')
      await app.db.updateTable('notes').set({ type }).where('id', '=', first.id).execute()
    return say(app, actor, subject, { ...wish, internal }, heard, { type, discussion_id, placed, resolved })
  })
  return finished(app, said)
}

/** As it is now; nobody else changes it until the transaction ends. */
async function holdNote({ db }: App, id: number): Promise<Note> {
  const note = await db
    .selectFrom('notes')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!note) throw notFound() // somebody was faster
  return note
}

async function hearAndSay(
  app: App,
  actor: User,
  subject: TalkSubject,
  wish: NoteWish,
  standing: Standing,
): Promise<Said> {
  return finished(app, await say(app, actor, subject, wish, await hear(subject, wish.body), standing))
}

const finished = async (app: App, { note, obeyed }: Said): Promise<Said> => ({
  note,
  obeyed: (await obeyed.after?.(app)) ?? obeyed,
})

async function say(
  app: App,
  actor: User,
  subject: TalkSubject,
  { created_at, internal }: NoteWish,
  { text, commands, emoji }: Heard,
  { type, discussion_id, placed, resolved = false }: Standing,
): Promise<Said> {
  if (internal && subject.topic.type !== 'Issue') throw new Refusal('bad_request', NOT_INTERNAL)
  if (internal && !seesInternal(subject)) throw forbidden()
  const now = timestamp(app.clock)
  const at = (subject.level >= Owner && created_at) || now
  const { topic } = subject
  try {
    return await transact(app, async (app) => {
      const note =
        text === ''
          ? null
          : await app.db
              .insertInto('notes')
              .values({
                issue_id: null,
                merge_request_id: null,
                commit_sha: null,
                snippet_id: null,
                ...topic.noteable,
                discussion_id,
                type,
                author_id: actor.id,
                body: text,
                action: null,
                internal: internal ?? false,
                position: placed ? JSON.stringify(placed.position) : null,
                line_code: placed?.line_code ?? null,
                original_position: placed?.original ? JSON.stringify(placed.original) : null,
                resolved_at: resolved ? now : null,
                resolved_by_id: resolved ? actor.id : null,
                created_at: at,
                updated_at: at,
              })
              .returningAll()
              .executeTakeFirstOrThrow()
      if (note) {
        await topic.touch?.(app)
        await emit(app, 'note.created', { id: note.id, by: actor.id })
      }
      const obeyed = commands.length > 0 && topic.obey ? await topic.obey(app, actor, commands, emoji) : NOTHING
      return { note, obeyed }
    })
  } catch (error) {
    if (isOrphan(error)) throw notFound() // what it was about is gone
    throw error
  }
}

/** What changes tell is not altered. */
export async function updateNote(app: App, actor: User, { id, system }: Note, body: string): Promise<Note> {
  if (!system) assertValid(body, (faults) => `Failed to save note ${faults}`)
  return transact(app, async (app) => {
    const note = await holdNote(app, id)
    if (system || note.body === body) return note
    const updated = await app.db
      .updateTable('notes')
      .set({ body, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await emit(app, 'note.updated', { id, by: actor.id })
    return updated
  })
}

export async function deleteNote(app: App, actor: User, { id, project_id }: Note): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('notes').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // somebody was faster
    await emit(app, 'note.deleted', { id, project_id, by: actor.id })
  })
}
