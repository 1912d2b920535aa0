import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** When a user who must have a second factor was first told so: the start of the grace period. */
export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  await db.schema.alterTable('users').addColumn('second_factor_asked_at', timestamp).execute()
}
