import { sql } from 'kysely'
import { on, type App, type User } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject } from '../../projects/projects/queries.ts'
import { targetOfItem, type ItemRow } from '../items/kind.ts'
import { itemReaders } from '../items/readers.ts'
import { findItem, findItems } from '../items/queries.ts'
import { itemIn, type ListedItem, type RegisteredKind } from '../items/registry.ts'
import { mayReferAfter } from '../items/changes.ts'
import { mentionedPeople, namesAdded, namesIn, without, type Mentions } from './mentions.ts'
import { codeReadersAmong } from './readers.ts'
import { addTodos, type Target } from './service.ts'

interface Text {
  readonly target: Target
  readonly note?: { readonly id: number; readonly internal: boolean }
  /** Of these users, those who may read the text. */
  readers(ids: readonly number[]): Promise<User[]>
}

/** For mentioned users who may read the text. */
async function addMentionTodos(app: App, by: User, text: Text, named: Mentions, source: string | null): Promise<void> {
  if (named.size === 0) return
  const { target, note } = text
  const people = await mentionedPeople(app, by, target.project_id, named)
  const seeing = new Set((await text.readers([...people.addressed, ...people.mentioned])).map(({ id }) => id))
  for (const [action, some] of [
    ['directly_addressed', people.addressed],
    ['mentioned', people.mentioned],
  ] as const) {
    await addTodos(
      app,
      { target, by: by.id, action, ...(note && { note: note.id }), source },
      some.filter((id) => seeing.has(id)),
    )
  }
}

/** The text of an item, or of a note on it. */
const textOfItem = (app: App, by: User, kind: RegisteredKind, item: ListedItem, note?: Text['note']): Text => ({
  target: targetOfItem(kind, item),
  ...(note && { note }),
  async readers(ids) {
    const subject = await findProjectSubject(app, String(item.project_id), by)
    return subject ? itemReaders(app, kind, subject, ids, item, note) : []
  },
})

async function addItemTodos(
  app: App,
  kind: RegisteredKind,
  { id, by }: { readonly id: number; readonly by: number },
  source: string | null,
  namesOf: (item: ItemRow) => Promise<Mentions>,
): Promise<ItemRow | null> {
  const [item, author] = await Promise.all([findItem(app.db, kind, id), findUser(app.db, by)])
  if (!item || !author) return null
  await addMentionTodos(app, author, textOfItem(app, author, kind, item), await namesOf(item), source)
  return item
}

export const todoReactions = (kind: RegisteredKind): Subscription<App>[] => [
  on(
    `${kind.key}.created`,
    'todos',
    async (app, payload, { source }) => {
      const item = await addItemTodos(app, kind, payload, source, ({ title, description }) =>
        namesIn([title, description]),
      )
      if (item) await kind.addTodos?.(app, item, payload.by, source)
    },
    { when: ({ plain = false }) => !plain || kind.addTodos !== undefined },
  ),
  // For users who were not mentioned before.
  on(
    `${kind.key}.updated`,
    'todos',
    async (app, payload, { source }) => {
      await addItemTodos(app, kind, payload, source, (item) => namesAdded(item, payload.changes))
    },
    { when: ({ changes }) => mayReferAfter(changes) },
  ),
]

/** A note with its text and author. Notes on snippets create no to-do items. */
async function findNote(app: App, { id, by }: { readonly id: number; readonly by: number }) {
  const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  const author = note && !note.system ? await findUser(app.db, by) : null
  if (!note || !author) return null
  const { project_id, commit_sha } = note
  if (commit_sha !== null) {
    const readers = async (ids: readonly number[]) => {
      const project = await findProjectById(app.db, project_id)
      return project ? codeReadersAmong(app, project, ids) : []
    }
    return { note, author, text: { target: { project_id, commit_sha }, note, readers } }
  }
  const found = itemIn(note)
  const [item] = found ? await findItems(app.db, found.kind, [found.id]) : []
  return found && item ? { note, author, text: textOfItem(app, author, found.kind, item, note) } : null
}

const noteCreated = on(
  'note.created',
  'todos',
  async (app, payload, { source }) => {
    const found = await findNote(app, payload)
    if (found) await addMentionTodos(app, found.author, found.text, await namesIn([found.note.body]), source)
  },
  { when: ({ plain = false }) => !plain },
)

/** For users the note did not mention before. */
const noteUpdated = on('note.updated', 'todos', async (app, payload, { source }) => {
  const found = await findNote(app, payload)
  if (!found) return
  const { body } = found.note
  const named = without(await namesIn([body]), await namesIn([payload.was ?? body]))
  await addMentionTodos(app, found.author, found.text, named, source)
})

/**
 * Deletes to-do items of former members in projects they no longer have access to, and of records they can no longer
 * see.
 */
const memberRemoved = on('member.removed', 'todos', async (app, { user_id, project_id, group_id }) => {
  const user = await findUser(app.db, user_id)
  if (!user || user.admin) return
  const isLeft =
    project_id === null
      ? sql<boolean>`exists (select 1 from namespace_ancestors a
          where a.namespace_id = p.namespace_id and a.ancestor_id = ${group_id})`
      : sql<boolean>`p.id = ${project_id}`
  await sql`delete from todos where id in (
    select w.id from todos w join projects p on p.id = w.project_id
    where w.user_id = ${user_id} and (${isLeft} or p.visibility not in (${sql.join(openVisibilities(user))}))
    and not exists (select 1 from project_authorizations a where a.user_id = w.user_id and a.project_id = p.id)
  )`.execute(app.db)
})

export const reactions: Subscription<App>[] = [noteCreated, noteUpdated, memberRemoved]
