import type { Kysely } from 'kysely'

/** The position of a note on a diff before its line moved. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('notes').addColumn('original_position', 'text').execute()
}
