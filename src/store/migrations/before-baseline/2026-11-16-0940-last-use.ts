import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  for (const table of ['sessions', 'oauth_tokens']) {
    await db.schema.alterTable(table).addColumn('last_used_at', timestamp).execute()
  }
}
