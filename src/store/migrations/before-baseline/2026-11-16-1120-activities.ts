import { sql, type Kysely } from 'kysely'
import { countChanges, countFacets } from '../helpers/counts.ts'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/** Activities of users, and the event that a subscriber's job handles. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await db.schema.alterTable('jobs').addColumn('event_id', ref).execute()
  await db.schema.alterTable('jobs').addColumn('event_at', timestamp).execute()

  await withId(db.schema.createTable('activities'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('author_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('kind', 'text', (c) => c.notNull())
    /** Visible to Reporters and above, and to the users whose issue it is. */
    .addColumn('reserved', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('milestone_id', ref, (c) => c.references('milestones.id').onDelete('cascade'))
    .addColumn('note_id', ref, (c) => c.references('notes.id').onDelete('cascade'))
    /** A description of a deleted target, as JSON. */
    .addColumn('gone', 'text')
    /** JSON. */
    .addColumn('push', 'text')
    /** The event it was created from: an event that is delivered twice creates one row. */
    .addColumn('source', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  const index = (columns: string[]) =>
    db.schema
      .createIndex(`activities_${columns.join('_')}`)
      .on('activities')
      .columns(columns)
      .execute()
  for (const whose of ['project_id', 'author_id']) {
    await index([whose, 'created_at', 'id'])
    await index([whose, 'kind', 'created_at', 'id'])
  }
  await index(['created_at', 'id'])
  for (const target of ['issue_id', 'milestone_id', 'note_id']) await index([target])
  await db.schema.createIndex('activities_source_unique').unique().on('activities').column('source').execute()
  await countFacets(db, 'activities', {
    project_id: 'integer',
    author_id: 'integer',
    kind: 'text',
    reserved: 'boolean',
  })
  await sql`create index activities_facets_author on activities_facets (author_id)`.execute(db)
  if (!isSqlite(db)) await sql`create index activities_facets_project on activities_facets (project_id)`.execute(db)
  await countChanges(db, 'activities', ['author_id', 'reserved'])
}
