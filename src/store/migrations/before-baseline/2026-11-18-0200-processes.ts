import type { Kysely } from 'kysely'

/** The processes that use the store, and the holder of each lease. Leases of older versions have no holder. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('processes')
    .addColumn('tag', 'text', (c) => c.primaryKey())
    .addColumn('beats', 'integer', (c) => c.notNull())
    .execute()
  await db.schema.alterTable('jobs').addColumn('lease_holder', 'text').execute()
  await db.schema.alterTable('delivery_lanes').addColumn('lease_holder', 'text').execute()
  await db.schema.alterTable('pending_changes').addColumn('holder', 'text').execute()
}
