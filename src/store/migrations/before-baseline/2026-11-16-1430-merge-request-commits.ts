import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Finds the merge request of a commit by the commit's id. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .createTable('merge_request_commits')
    .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('sha', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('merge_request_commits_unique', ['sha', 'merge_request_id'] as never[])
    .execute()
  await db.schema
    .createIndex('merge_request_commits_of')
    .on('merge_request_commits')
    .column('merge_request_id')
    .execute()
  await db.schema
    .createIndex('merge_requests_squash_commit')
    .on('merge_requests')
    .columns(['project_id', 'squash_commit_sha'])
    .execute()
}
