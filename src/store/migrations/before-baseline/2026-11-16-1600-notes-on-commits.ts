import type { Kysely } from 'kysely'

/** The commit of a merge request that a thread is about. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('notes').addColumn('thread_commit_sha', 'text').execute()
}
