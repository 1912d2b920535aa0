import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The addresses that users come from, while their number is limited. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, timestamp } = columnTypes(db)
  await db.schema
    .createTable('user_addresses')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('since', timestamp, (c) => c.notNull())
    .addColumn('seen_at', timestamp, (c) => c.notNull())
    .addPrimaryKeyConstraint('user_addresses_pk', ['user_id', 'address'])
    .execute()
  await db.schema.createIndex('user_addresses_seen_at').on('user_addresses').column('seen_at').execute()
}
