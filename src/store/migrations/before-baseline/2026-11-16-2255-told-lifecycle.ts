import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  // The number of retries of a job is part of each job event: found without reading the other jobs.
  await sql`create index ci_jobs_retried on ci_jobs (pipeline_id, name) where retried`.execute(db)
  /** The warnings already sent before group and project access tokens expire, in days before expiry. */
  await db.schema
    .createTable('resource_token_warnings')
    .addColumn('token_id', ref, (c) => c.notNull().references('access_tokens.id').onDelete('cascade'))
    .addColumn('days', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('resource_token_warnings_pk', ['token_id', 'days'])
    .execute()
}
