import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { ref, timestamp } = columnTypes(db)
  await db.schema
    .createTable('user_statuses')
    .addColumn('user_id', ref, (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('emoji', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('availability', 'text', (c) => c.notNull())
    .addColumn('clear_at', timestamp)
    .execute()
  await db.schema
    .createTable('user_follows')
    .addColumn('follower_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('followee_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addPrimaryKeyConstraint('user_follows_pk', ['follower_id', 'followee_id'])
    .execute()
  await db.schema
    .createIndex('user_follows_followee')
    .on('user_follows')
    .columns(['followee_id', 'follower_id'])
    .execute()
}
