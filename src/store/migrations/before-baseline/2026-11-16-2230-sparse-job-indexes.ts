import { sql, type Kysely } from 'kysely'

/**
 * Most jobs have no environment and are never erased, and a pending job has no runner. Partial indexes without these
 * rows are not written when a job is created, and once instead of twice when a runner takes it. Pending jobs are found
 * in `ci_queue`.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const indexes = {
    runner_id_id: 'runner_id, id',
    runner_id_status: 'runner_id, status, id',
    manager_id: 'manager_id',
    environment_id: 'environment_id',
    erased_by_id: 'erased_by_id',
    trace_digest: 'trace_digest',
  }
  for (const [name, columns] of Object.entries(indexes)) {
    await run(`drop index ci_jobs_${name}`)
    await run(`create index ci_jobs_${name} on ci_jobs (${columns}) where ${columns.split(',')[0]} is not null`)
  }
  await run('drop index ci_jobs_waiting')
}
