import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, date } = columnTypes(db)
  /** A group whose members get access to another group. */
  await withId(db.schema.createTable('group_shares'))
    .addColumn('group_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('shared_with_group_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('group_access', 'integer', (c) => c.notNull())
    .addColumn('expires_at', date)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('group_shares_group_id_shared_with_group_id_unique')
    .unique()
    .on('group_shares')
    .columns(['group_id', 'shared_with_group_id'])
    .execute()
  await db.schema.createIndex('group_shares_with').on('group_shares').column('shared_with_group_id').execute()
  await db.schema.createIndex('group_shares_expiry').on('group_shares').column('expires_at').execute()
  await countChanges(db, 'group_shares', ['group_access'])
}
