import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  await db.schema.alterTable('sessions').addColumn('ip_address', 'text').execute()
  await db.schema.alterTable('sessions').addColumn('user_agent', 'text').execute()
  await db.schema.alterTable('users').addColumn('credentials_revoked_at', timestamp).execute()
}
