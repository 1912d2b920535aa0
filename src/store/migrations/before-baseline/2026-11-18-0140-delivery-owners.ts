import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/**
 * The owner of a receiver, so that the receivers of one owner cannot use all concurrent deliveries. Null: unknown, or
 * everybody's.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema.alterTable('delivery_lanes').addColumn('owner_id', ref).execute()
  await sql`create index delivery_lanes_due_owner on delivery_lanes (troubled, due_at, owner_id)`.execute(db)
}
