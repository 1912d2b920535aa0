import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { boolean, timestamp, yes, no } = columnTypes(db)
  const alter = (table: string) => db.schema.alterTable(table)
  const flag = (table: string, name: string, initial: typeof yes) =>
    alter(table)
      .addColumn(name, boolean, (c) => c.notNull().defaultTo(initial))
      .execute()

  await flag('projects', 'merge_pipelines_enabled', no)
  await flag('projects', 'keep_latest_artifact', yes)
  /** For a pipeline of a merge result: the commits it is made of. */
  await alter('pipelines').addColumn('source_sha', 'text').execute()
  await alter('pipelines').addColumn('target_sha', 'text').execute()

  /** Marks which pipelines were created, so that they are not created again, even if they are deleted since. */
  await db.schema
    .createTable('pipeline_marks')
    .addColumn('cause', 'text', (c) => c.primaryKey())
    .addColumn('made_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create index pipeline_marks_made_at on pipeline_marks (made_at)`.execute(db)

  /** Kept after its expiry: it belongs to the newest successful pipeline of its ref. */
  await flag('ci_artifacts', 'locked', no)
  await sql`create index ci_artifacts_locked on ci_artifacts (project_id) where locked`.execute(db)
  await sql`drop index ci_artifacts_due`.execute(db)
  await sql`create index ci_artifacts_due on ci_artifacts (expire_at) where expire_at is not null and not locked`.execute(
    db,
  )

  /** When the job times out. */
  await alter('ci_runs').addColumn('deadline_at', timestamp).execute()
  await sql`create index ci_runs_deadline_at on ci_runs (deadline_at)`.execute(db)

  /** By name, as JSON; null: none. */
  await alter('pipeline_schedules').addColumn('inputs', 'text').execute()
}
