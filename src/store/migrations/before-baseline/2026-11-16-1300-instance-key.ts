import type { Kysely } from 'kysely'

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('instance_key')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('check_value', 'text', (c) => c.notNull())
    .execute()
}
