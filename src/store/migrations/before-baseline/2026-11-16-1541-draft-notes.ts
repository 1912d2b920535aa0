import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Draft notes of reviewers, and suggestions to replace lines. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('draft_notes'))
    .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('author_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('note', 'text', (c) => c.notNull())
    /** The discussion it replies to. */
    .addColumn('discussion_id', 'text')
    .addColumn('resolve_discussion', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('commit_sha', 'text')
    /** JSON. */
    .addColumn('position', 'text')
    .addColumn('line_code', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('draft_notes_of')
    .on('draft_notes')
    .columns(['merge_request_id', 'author_id', 'id'])
    .execute()
  await db.schema.createIndex('draft_notes_author').on('draft_notes').columns(['author_id']).execute()

  await withId(db.schema.createTable('suggestions'))
    .addColumn('note_id', ref, (c) => c.notNull().references('notes.id').onDelete('cascade'))
    /** Lines around the line of the note. */
    .addColumn('lines_above', 'integer', (c) => c.notNull())
    .addColumn('lines_below', 'integer', (c) => c.notNull())
    .addColumn('from_content', 'text', (c) => c.notNull())
    .addColumn('to_content', 'text', (c) => c.notNull())
    .addColumn('commit_sha', 'text')
    .execute()
  await db.schema.createIndex('suggestions_note').on('suggestions').columns(['note_id', 'id']).execute()
}
