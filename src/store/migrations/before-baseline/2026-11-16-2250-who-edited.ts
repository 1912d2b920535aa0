import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The user who last changed a record, and its text; and the page that a wiki change is about. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, timestamp, boolean, no } = columnTypes(db)
  const addUser = async (table: string, column: string) => {
    await db.schema
      .alterTable(table)
      .addColumn(column, ref, (c) => c.references('users.id').onDelete('set null'))
      .execute()
    await sql.raw(`create index ${table}_${column} on ${table} (${column}) where ${column} is not null`).execute(db)
  }
  for (const table of ['issues', 'merge_requests']) {
    await addUser(table, 'updated_by_id')
    await db.schema.alterTable(table).addColumn('last_edited_at', timestamp).execute()
    await addUser(table, 'last_edited_by_id')
  }
  await addUser('notes', 'updated_by_id')
  await db.schema
    .alterTable('notes')
    .addColumn('resolved_by_push', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await db.schema.alterTable('pending_changes').addColumn('page', 'text').execute()
}
