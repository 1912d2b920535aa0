import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { createTextIndex, dropTextIndex } from '../helpers/text-index.ts'

/** FTS5 stores the scope of a text, and lists its words. PostgreSQL has other ways for both. */
export async function up(db: Kysely<never>): Promise<void> {
  if (!isSqlite(db)) return
  for (const table of ['issues', 'milestones', 'notes', 'snippets']) await dropTextIndex(db, table)
  await createTextIndex(db, 'issues', ['title', 'description'], 'project_id')
  await createTextIndex(db, 'milestones', ['title', 'description'], 'project_id')
  await createTextIndex(db, 'notes', ['body'], 'project_id')
  await createTextIndex(db, 'snippets', ['title', 'description'])
}
