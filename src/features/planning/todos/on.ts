import { sql } from 'kysely'
import { on, type App, type User } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject } from '../../projects/projects/queries.ts'
import type { Issue } from '../issues/model.ts'
import { issueReaders } from '../issues/people.ts'
import { findIssues } from '../issues/queries.ts'
import { findMergeRequestRows } from '../merge-requests.ts'
import { namesIn } from './mentions.ts'
import { namesAdded, createMentionTodos, textOfMergeRequest, type Text } from './mention-todos.ts'
import { codeReadersAmong } from './readers.ts'

type NoteFacts = { readonly id: number; readonly internal: boolean }

async function textOfIssue(app: App, by: User, issue: Issue, source: string | null, note?: NoteFacts): Promise<Text> {
  const subject = await findProjectSubject(app, String(issue.project_id), by)
  return {
    target: { project_id: issue.project_id, issue_id: issue.id },
    ...(note && { note }),
    source,
    readers: async (ids) => (subject ? issueReaders(app, subject, ids, issue, note) : []),
  }
}

/** A note on a commit, for users who may read the code. */
const textOfCommit = (
  app: App,
  { project_id, commit_sha, id }: { project_id: number; commit_sha: string; id: number },
  source: string | null,
): Text => ({
  target: { project_id, commit_sha },
  note: { id },
  source,
  async readers(ids) {
    const project = await findProjectById(app.db, project_id)
    return project ? codeReadersAmong(app, project, ids) : []
  },
})

async function find(app: App, id: number, by: number): Promise<{ issue: Issue; author: User } | null> {
  const [issue] = await findIssues(app.db, [id])
  const author = await findUser(app.db, by)
  return issue && author ? { issue, author } : null
}

const issueCreated = on('issue.created', 'todos', async (app, { id, by }, { source }) => {
  const found = await find(app, id, by)
  if (!found) return
  const { issue, author } = found
  const text = await textOfIssue(app, author, issue, source)
  await createMentionTodos(app, author, text, await namesIn([issue.title, issue.description]))
})

/** For users who were not mentioned before. */
const issueUpdated = on(
  'issue.updated',
  'todos',
  async (app, { id, by, changes }, { source }) => {
    const found = await find(app, id, by)
    if (!found) return
    const { issue, author } = found
    const text = await textOfIssue(app, author, issue, source)
    await createMentionTodos(app, author, text, await namesAdded(issue, changes))
  },
  { when: ({ changes }) => 'title' in changes || 'description' in changes },
)

/** A note with its text and author. */
async function findNote(app: App, { id, by }: { readonly id: number; readonly by: number }, source: string | null) {
  const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  if (!note || note.system) return null
  const { project_id, commit_sha, issue_id } = note
  if (commit_sha !== null) {
    const author = await findUser(app.db, by)
    return author && { note, author, text: textOfCommit(app, { id, project_id, commit_sha }, source) }
  }
  if (note.merge_request_id !== null) {
    const [author, [one]] = await Promise.all([
      findUser(app.db, by),
      findMergeRequestRows(app.db, [note.merge_request_id]),
    ])
    return author && one ? { note, author, text: await textOfMergeRequest(app, author, one, source, note) } : null
  }
  // Notes on snippets create no to-do items.
  const found = issue_id === null ? null : await find(app, issue_id, by)
  return found && { note, author: found.author, text: await textOfIssue(app, found.author, found.issue, source, note) }
}

const noteCreated = on('note.created', 'todos', async (app, told, { source }) => {
  const found = await findNote(app, told, source)
  if (found) await createMentionTodos(app, found.author, found.text, await namesIn([found.note.body]))
})

/** For users the note did not mention before. */
const noteUpdated = on('note.updated', 'todos', async (app, told, { source }) => {
  const found = await findNote(app, told, source)
  if (!found) return
  const { body } = found.note
  const [named, before] = [await namesIn([body]), await namesIn([told.was ?? body])]
  for (const name of before.keys()) named.delete(name)
  await createMentionTodos(app, found.author, found.text, named)
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

export const reactions: Subscription<App>[] = [issueCreated, issueUpdated, noteCreated, noteUpdated, memberRemoved]
