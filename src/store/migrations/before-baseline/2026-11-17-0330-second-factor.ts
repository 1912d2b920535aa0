import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  /** Has no effect until a first code was shown (`users.two_factor_enabled`). */
  await withId(db.schema.createTable('second_factors'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('secret_sealed', 'text', (c) => c.notNull())
    .addColumn('last_step', ref, (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addUniqueConstraint('second_factors_user_id_unique', ['user_id'])
    .execute()
  await withId(db.schema.createTable('recovery_codes'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('secret_digest', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addUniqueConstraint('recovery_codes_user_id_secret_digest_unique', ['user_id', 'secret_digest'])
    .execute()
}
