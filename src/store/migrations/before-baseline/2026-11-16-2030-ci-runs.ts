import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref } = columnTypes(db)
  /** State of a job only while a runner has it. */
  await db.schema
    .createTable('ci_runs')
    .addColumn('job_id', ref, (c) => c.primaryKey().references('ci_jobs.id').onDelete('cascade'))
    /** Values that must be masked in its log, as JSON. */
    .addColumn('masks_sealed', 'text', (c) => c.notNull())
    /** Checksum of the log as received. */
    .addColumn('trace_crc', ref, (c) => c.notNull().defaultTo(0))
    /** How often the log was sent from the start again. */
    .addColumn('trace_resets', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()

  /** Variables that jobs pass to later jobs (dotenv reports). */
  await withId(db.schema.createTable('ci_job_variables'))
    .addColumn('job_id', ref, (c) => c.notNull().references('ci_jobs.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value_sealed', 'text', (c) => c.notNull())
    .execute()
  await sql`create unique index ci_job_variables_job_id_key_unique on ci_job_variables (job_id, key)`.execute(db)

  /** Registration tokens for runners of a group, or of the instance. The tokens of projects are in `projects`. */
  await withId(db.schema.createTable('runner_registration_tokens'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('token_digest', 'text', (c) => c.notNull())
    .addColumn('token_sealed', 'text', (c) => c.notNull())
    .execute()
  const unique = (name: string, column: string, where = '') =>
    sql
      .raw(
        `create unique index runner_registration_tokens_${name}_unique on runner_registration_tokens ${column} ${where}`,
      )
      .execute(db)
  await unique('token_digest', '(token_digest)')
  await unique('group_id', '(group_id)', 'where group_id is not null')
  // The number of jobs per project that shared runners have right now.
  await sql`create index ci_jobs_running_projects on ci_jobs (project_id, runner_id) where status in ('running', 'canceling') and kind = 'job'`.execute(
    db,
  )
}
