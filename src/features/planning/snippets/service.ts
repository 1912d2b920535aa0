import { z } from 'zod'
import { assertRules } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound } from '../../../errors.ts'
import type { Visibility } from '../../../lib/levels.ts'
import { locksRows } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { reserveSnippet } from '../events/service.ts'
import { titleRule } from '../titles.ts'
import { assertValidFiles, changedFiles, filesFrom, touchesFiles, type FilesChange, type NewFiles } from './files.ts'
import type { Snippet, SnippetFile } from './model.ts'

/** The origin of a request, for administrators who look for spam. */
interface Sender {
  readonly address: string
  readonly userAgent: string
}

export interface NewSnippet extends NewFiles {
  title: string
  description?: string | null | undefined
  visibility: Visibility
}

export interface SnippetChange extends FilesChange {
  title?: string | null | undefined
  description?: string | null | undefined
  visibility?: Visibility | null | undefined
}

const snippetRules = z.object({ title: titleRule })

async function assertVisibilityAllowed(app: App, actor: User, visibility: Visibility): Promise<void> {
  const { restricted_visibility_levels: restricted } = await currentSettings(app)
  if (!actor.admin && restricted.includes(visibility)) {
    throw invalid({ visibility_level: [`${visibility} has been restricted by your administrator`] })
  }
}

/** Without a project it is a personal snippet. */
export async function createSnippet(
  app: App,
  actor: User,
  project: { readonly id: number } | null,
  input: NewSnippet,
  sender: Sender,
): Promise<Snippet> {
  const title = input.title.trim()
  const { description = null, visibility } = input
  const files = filesFrom(input)
  assertRules(snippetRules, { title })
  assertValidFiles(files)
  await assertVisibilityAllowed(app, actor, visibility)
  const now = timestamp(app.clock)
  const times = { created_at: now, updated_at: now }
  return transact(app, async (app) => {
    const snippet = await app.db
      .insertInto('snippets')
      .values({ project_id: project?.id ?? null, author_id: actor.id, title, description, visibility, ...times })
      .returningAll()
      .executeTakeFirstOrThrow()
    await insertFiles(app, snippet, files)
    await app.db
      .insertInto('user_agent_details')
      .values({
        snippet_id: snippet.id,
        user_agent: sender.userAgent,
        ip_address: sender.address,
        created_at: now,
      })
      .execute()
    await emit(app, 'snippet.created', { id: snippet.id, project_id: snippet.project_id, by: actor.id })
    return snippet
  })
}

async function insertFiles({ db }: App, { id }: Snippet, files: readonly SnippetFile[]): Promise<void> {
  await db
    .insertInto('snippet_files')
    .values(files.map(({ path, content }) => ({ snippet_id: id, path, content })))
    .execute()
}

export async function updateSnippet(
  app: App,
  actor: User,
  { id }: Snippet,
  { title, description, visibility, ...change }: SnippetChange,
): Promise<Snippet> {
  const columns = {
    ...(typeof title === 'string' && { title: title.trim() }),
    ...(description !== undefined && { description }),
    ...(visibility && { visibility }),
  }
  if (columns.title !== undefined) assertRules(snippetRules, { title: columns.title })
  if (visibility) await assertVisibilityAllowed(app, actor, visibility)
  return transact(app, async (app) => {
    const before = await app.db
      .selectFrom('snippets')
      .select('id')
      .where('id', '=', id)
      .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
      .executeTakeFirst()
    if (!before) throw notFound('Snippet') // deleted by another request meanwhile
    const after = touchesFiles(change) ? changedFiles(await filesOf(app, id), change) : null
    if (after) assertValidFiles(after)
    const snippet = await app.db
      .updateTable('snippets')
      .set({ ...columns, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (after) {
      await app.db.deleteFrom('snippet_files').where('snippet_id', '=', id).execute()
      await insertFiles(app, snippet, after)
    }
    if (visibility) await reserveSnippet(app, snippet)
    await emit(app, 'snippet.updated', { id, project_id: snippet.project_id, by: actor.id })
    return snippet
  })
}

/** Updates the timestamp after a note, in the transaction of the note. */
export async function touchSnippet({ db, clock }: App, id: number): Promise<void> {
  await db
    .updateTable('snippets')
    .set({ updated_at: timestamp(clock) })
    .where('id', '=', id)
    .execute()
}

const filesOf = ({ db }: App, id: number): Promise<SnippetFile[]> =>
  db.selectFrom('snippet_files').select(['path', 'content']).where('snippet_id', '=', id).orderBy('id').execute()

export async function deleteSnippet(app: App, actor: User, { id, project_id }: Snippet): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('snippets').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Snippet') // deleted by another request meanwhile
    await emit(app, 'snippet.deleted', { id, project_id, by: actor.id })
  })
}
