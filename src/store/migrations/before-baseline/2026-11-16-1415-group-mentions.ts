import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Which text mentions which group; null means the members of the project. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  const table = 'text_group_mentions'
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`${table}_${name}`).on(table).columns(columns).execute()
  await withId(db.schema.createTable(table))
    .addColumn('source_issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('source_note_id', ref, (c) => c.references('notes.id').onDelete('cascade'))
    .addColumn('source_snippet_id', ref, (c) => c.references('snippets.id').onDelete('cascade'))
    .addColumn('source_project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('source_sha', 'text')
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await index('source_issue', ['source_issue_id', 'source_note_id'])
  await index('source_note', ['source_note_id'])
  await index('source_snippet', ['source_snippet_id', 'source_note_id'])
  await index('source_commit', ['source_project_id', 'source_sha'])
  await index('group', ['group_id'])
}
