import { sql } from 'kysely'
import { on, type App, type User } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import type { Issue } from '../issues/model.ts'
import { readersAmong } from '../issues/people.ts'
import { assigneesOf, findIssues } from '../issues/queries.ts'
import { namesIn, peopleNamed, type Named } from './mentions.ts'
import { addTodos, finishTodos } from './service.ts'

interface Text {
  readonly issue: Issue
  readonly note?: { readonly id: number; readonly internal: boolean }
  readonly source: string | null
}

/** For those a text names who may read it. */
async function tellNamed(app: App, by: User, { issue, note, source }: Text, named: Named): Promise<void> {
  const subject = await findProjectSubject(app, String(issue.project_id), by)
  if (!subject || named.size === 0) return
  const people = await peopleNamed(app, by, issue.project_id, named)
  const ids = [...people.addressed, ...people.mentioned]
  // What is internal is for those who would see it were it confidential and somebody else's.
  const seen = note?.internal ? { ...issue, confidential: true, author_id: null } : issue
  const readers = new Set((await readersAmong(app, subject, ids, seen)).map(({ id }) => id))
  if (!note?.internal) {
    const assigned = (await assigneesOf(app.db, [issue.id])).get(issue.id) ?? []
    const own = await readersAmong(
      app,
      subject,
      assigned.filter((id) => ids.includes(id)),
    )
    for (const { id } of own) readers.add(id)
  }
  for (const [action, some] of [
    ['directly_addressed', people.addressed],
    ['mentioned', people.mentioned],
  ] as const) {
    await addTodos(
      app,
      { issue, by: by.id, action, ...(note && { note: note.id }), source },
      some.filter((id) => readers.has(id)),
    )
  }
}

async function find(app: App, id: number, by: number): Promise<{ issue: Issue; author: User } | null> {
  const [issue] = await findIssues(app.db, [id])
  const author = await findUser(app.db, by)
  return issue && author ? { issue, author } : null
}

const issueCreated = on('issue.created', 'todos', async (app, { id, by }, { source }) => {
  const found = await find(app, id, by)
  if (!found) return
  const { issue, author } = found
  await tellNamed(app, author, { issue, source }, await namesIn([issue.title, issue.description]))
})

/** Those who were not named before. */
const issueUpdated = on(
  'issue.updated',
  'todos',
  async (app, { id, by, changes }, { source }) => {
    const found = await find(app, id, by)
    if (!found) return
    const { issue, author } = found
    const textsOf = (side: 0 | 1) =>
      (['title', 'description'] as const).map((field) =>
        changes[field] ? (changes[field][side] as string | null) : issue[field],
      )
    const before = await namesIn(textsOf(0))
    const after = await namesIn(textsOf(1))
    for (const name of before.keys()) after.delete(name)
    await tellNamed(app, author, { issue, source }, after)
  },
  { when: ({ changes }) => 'title' in changes || 'description' in changes },
)

async function findNote(app: App, id: number) {
  const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  if (!note || note.system || note.issue_id === null || note.author_id === null) return null
  const found = await find(app, note.issue_id, note.author_id)
  return found && { ...found, note }
}

/** Whoever answers has seen to it. */
const noteCreated = on('note.created', 'todos', async (app, { id }, { source }) => {
  const found = await findNote(app, id)
  if (!found) return
  await finishTodos(app, found.author.id, found.issue.id)
  await tellNamed(app, found.author, { ...found, source }, await namesIn([found.note.body]))
})

/** Those to whom this note has not been told yet. */
const noteUpdated = on('note.updated', 'todos', async (app, { id }, { source }) => {
  const found = await findNote(app, id)
  if (!found) return
  const named = await namesIn([found.note.body])
  const told = await app.db
    .selectFrom('todos')
    .innerJoin('users', 'users.id', 'todos.user_id')
    .select('users.username')
    .where('todos.note_id', '=', id)
    .execute()
  for (const { username } of told) named.delete(username.toLowerCase())
  await tellNamed(app, found.author, { ...found, source }, named)
})

/** Nothing waits for whoever leaves where they see nothing any more. */
const memberRemoved = on('member.removed', 'todos', async (app, { user_id }) => {
  const user = await findUser(app.db, user_id)
  if (!user || user.admin) return
  await sql`delete from todos where id in (
    select w.id from todos w join projects p on p.id = w.project_id
    where w.user_id = ${user_id} and p.visibility not in (${sql.join(openVisibilities(user))})
    and not exists (select 1 from project_authorizations a where a.user_id = w.user_id and a.project_id = p.id)
  )`.execute(app.db)
})

export const reactions: Subscription<App>[] = [issueCreated, issueUpdated, noteCreated, noteUpdated, memberRemoved]
