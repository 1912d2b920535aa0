import type { Kysely } from 'kysely'

/** Topics have an avatar, as projects do. */
export async function up(db: Kysely<never>): Promise<void> {
  const topics = db.schema.alterTable('topics')
  for (const name of ['avatar_digest', 'avatar_filename', 'avatar_type']) await topics.addColumn(name, 'text').execute()
  await db.schema.createIndex('topics_avatar').on('topics').column('avatar_digest').execute()
}
