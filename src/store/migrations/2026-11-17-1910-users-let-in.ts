import type { Kysely } from 'kysely'

/** Lists of people leave out who waits for approval, and need nothing of a row but what is here. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.dropIndex('users_external').execute()
  await db.schema.createIndex('users_external').on('users').columns(['external', 'id', 'state', 'version']).execute()
}
