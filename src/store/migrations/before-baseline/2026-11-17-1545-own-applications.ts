import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The user who registered an application; null: it belongs to the instance. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .alterTable('oauth_applications')
    .addColumn('owner_id', ref, (c) => c.references('users.id').onDelete('cascade'))
    .execute()
  await db.schema.createIndex('oauth_applications_owner').on('oauth_applications').columns(['owner_id', 'id']).execute()
}
