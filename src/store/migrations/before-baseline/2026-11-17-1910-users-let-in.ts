import type { Kysely } from 'kysely'

/** Lists of users exclude users who are pending approval, and read only the columns of this index. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.dropIndex('users_external').execute()
  await db.schema.createIndex('users_external').on('users').columns(['external', 'id', 'state', 'version']).execute()
}
