import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * Pending jobs in buckets: the jobs of a bucket have the same project, tags and protection, so a runner that can take
 * one can take all. Maintained by triggers, whatever statement changes a job.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, boolean } = columnTypes(db)
  const lite = isSqlite(db)
  const run = (text: string) => sql.raw(text).execute(db)
  await withId(db.schema.createTable('ci_queue'))
    .addColumn('job_id', ref, (c) => c.notNull().references('ci_jobs.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.notNull())
    .addColumn('protected', boolean, (c) => c.notNull())
    .addColumn('tags', 'text', (c) => c.notNull())
    /** Begins with the project id and a blank; compared byte by byte. */
    .addColumn('lane', lite ? sql`text` : sql`text collate "C"`, (c) => c.notNull())
    .execute()
  await run('create unique index ci_queue_job_id_unique on ci_queue (job_id)')
  await run('create index ci_queue_lane on ci_queue (lane, job_id)')
  // With all columns needed to count a project's jobs on shared runners, so that no job row is read.
  await run('create index ci_jobs_runner_id_status on ci_jobs (runner_id, status, id, project_id, kind)')

  const isWaiting = (row: string) => `${row}.status = 'pending' and ${row}.kind = 'job'`
  // An index takes no longer text: a job with a longer list of tags has its own bucket.
  const lane = (row: string) => `${row}.project_id || ' ' || case when ${row}.protected then 'p' else '' end ||
    case when length(${row}.tags) <= 500 then ${row}.tags else cast(${row}.id as text) end`
  const add = (row: string) => `insert into ci_queue (job_id, project_id, protected, tags, lane)
    select ${row}.id, ${row}.project_id, ${row}.protected, ${row}.tags, ${lane(row)}`
  const leave = 'delete from ci_queue where job_id = old.id;'
  await run(`${add('j')} from ci_jobs j where ${isWaiting('j')} order by j.id`)
  const triggers = [
    ['i', 'insert', isWaiting('new'), `${add('new')};`],
    ['in', 'update of status', `old.status <> 'pending' and ${isWaiting('new')}`, `${add('new')};`],
    ['out', 'update of status', `${isWaiting('old')} and new.status <> 'pending'`, leave],
  ] as const
  for (const [name, event, condition, body] of triggers) {
    const trigger = `ci_queue_${name}`
    if (lite) await run(`create trigger ${trigger} after ${event} on ci_jobs when ${condition} begin ${body} end`)
    else {
      await run(`create function ${trigger}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`)
      await run(`create trigger ${trigger} after ${event} on ci_jobs for each row when (${condition})
        execute function ${trigger}()`)
    }
  }
}
