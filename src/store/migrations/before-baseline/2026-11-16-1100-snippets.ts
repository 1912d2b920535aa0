import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  /** Of a user, or of a project if one is set. */
  await table('snippets')
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('author_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await index('snippets_project', 'snippets', ['project_id', 'id'])
  await index('snippets_author', 'snippets', ['author_id', 'id'])
  await index('snippets_visibility', 'snippets', ['visibility', 'id'])
  await countChanges(db, 'snippets', ['visibility', 'title', 'description'])

  await table('snippet_files')
    .addColumn('snippet_id', ref, (c) => c.notNull().references('snippets.id').onDelete('cascade'))
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('snippet_files_snippet_id_path_unique')
    .unique()
    .on('snippet_files')
    .columns(['snippet_id', 'path'])
    .execute()

  await db.schema
    .alterTable('user_agent_details')
    .addColumn('snippet_id', ref, (c) => c.references('snippets.id').onDelete('cascade'))
    .execute()
  await index('user_agent_details_snippet', 'user_agent_details', ['snippet_id'])
}
