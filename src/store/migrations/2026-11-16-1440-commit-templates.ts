import type { Kysely } from 'kysely'

/** What the commits of merges say, where the project says so. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const column of ['merge_commit_template', 'squash_commit_template']) {
    await db.schema.alterTable('projects').addColumn(column, 'text').execute()
  }
}
