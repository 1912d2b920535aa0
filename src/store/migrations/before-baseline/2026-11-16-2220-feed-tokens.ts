import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Feed tokens, for programs that know no other credential: one per user, created by the user. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('feed_tokens'))
    .addColumn('user_id', ref, (c) => c.notNull().unique().references('users.id').onDelete('cascade'))
    .addColumn('token_digest', 'text', (c) => c.notNull().unique())
    .addColumn('token_sealed', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
}
