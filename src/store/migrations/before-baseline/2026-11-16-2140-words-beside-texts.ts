import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { createTextIndex, dropTextIndex } from '../helpers/text-index.ts'

/** PostgreSQL stores the words of texts in a separate table: a frequent word is then found in order of ids. */
export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return
  for (const [table, columns, within] of [
    ['issues', ['title', 'description'], 'project_id'],
    ['merge_requests', ['title', 'description'], 'project_id'],
    ['milestones', ['title', 'description'], 'project_id'],
    ['notes', ['body'], 'project_id'],
    ['snippets', ['title', 'description'], undefined],
  ] as const) {
    // Created by earlier releases, or by an earlier migration of this one.
    await sql`drop index if exists ${sql.ref(`${table}_search_words`)}`.execute(db)
    await dropTextIndex(db, table)
    await createTextIndex(db, table, columns, within)
  }
}
