import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The record that a system note mentions: an issue, or a project whose commit it was. Either may be deleted by now. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  for (const column of ['about_issue_id', 'about_project_id'])
    await db.schema.alterTable('notes').addColumn(column, ref).execute()
}
