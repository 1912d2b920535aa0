import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Merge requests that must be merged before others. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('merge_request_blocks'))
    .addColumn('blocking_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('blocked_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('merge_request_blocks_blocked_id_blocking_id_unique')
    .unique()
    .on('merge_request_blocks')
    .columns(['blocked_id', 'blocking_id'])
    .execute()
  await db.schema
    .createIndex('merge_request_blocks_blocking')
    .on('merge_request_blocks')
    .columns(['blocking_id', 'id'])
    .execute()
}
