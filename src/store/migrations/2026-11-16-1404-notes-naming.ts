import type { Kysely } from 'kysely'
import { columnTypes } from '../dialect.ts'

/** System notes that name another issue are for those who see that one. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .alterTable('notes')
    .addColumn('names_issue_id', ref, (c) => c.references('issues.id').onDelete('set null'))
    .execute()
  await db.schema.createIndex('notes_names_issue').on('notes').column('names_issue_id').execute()
}
