import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../dialect.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  // How often a job was tried again, told with each of its changes: found without looking at the other jobs.
  await sql`create index ci_jobs_retried on ci_jobs (pipeline_id, name) where retried`.execute(db)
  /** How many days before their end tokens of groups and projects were told of. */
  await db.schema
    .createTable('resource_token_warnings')
    .addColumn('token_id', ref, (c) => c.notNull().references('access_tokens.id').onDelete('cascade'))
    .addColumn('days', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('resource_token_warnings_pk', ['token_id', 'days'])
    .execute()
}
