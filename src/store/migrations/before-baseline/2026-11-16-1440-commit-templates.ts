import type { Kysely } from 'kysely'

/** Templates for merge commit messages, if the project sets them. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const column of ['merge_commit_template', 'squash_commit_template']) {
    await db.schema.alterTable('projects').addColumn(column, 'text').execute()
  }
}
