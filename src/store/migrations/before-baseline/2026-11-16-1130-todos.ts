import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Todos of users. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('todos'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('issue_id', ref, (c) => c.notNull().references('issues.id').onDelete('cascade'))
    /** The note that caused it. */
    .addColumn('note_id', ref, (c) => c.references('notes.id').onDelete('cascade'))
    .addColumn('author_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('pending'))
    /** The event it was created from: an event that is delivered twice creates one todo. */
    .addColumn('source', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  const index = (columns: string[]) =>
    db.schema
      .createIndex(`todos_${columns.join('_')}`)
      .on('todos')
      .columns(columns)
      .execute()
  await index(['user_id', 'state', 'id'])
  for (const column of ['project_id', 'issue_id', 'note_id', 'author_id']) await index([column])
  await sql`create unique index todos_user_id_issue_id_unique on todos (user_id, issue_id)
    where state = 'pending'`.execute(db)
  await sql`create unique index todos_user_id_source_unique on todos (user_id, source)
    where source is not null`.execute(db)
}
