import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The jobs on shared runners are counted by the runs, which are few, so jobs need no index for this. */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const { ref } = columnTypes(db)
  await db.schema.alterTable('ci_runs').addColumn('shared_project_id', ref).execute()
  await run(`update ci_runs set shared_project_id = (
    select j.project_id from ci_jobs as j join runners as r on r.id = j.runner_id
    where j.id = ci_runs.job_id and r.runner_type = 'instance_type')`)
  await run('create index ci_runs_shared_project_id on ci_runs (shared_project_id) where shared_project_id is not null')
  await run('drop index ci_jobs_running_projects')
  await run('drop index ci_jobs_runner_id_status')
  await run('create index ci_jobs_runner_id_status on ci_jobs (runner_id, status, id)')
}
