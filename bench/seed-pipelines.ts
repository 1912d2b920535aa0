/** Pipelines of one project, each of ten jobs, in the same proportions whatever their number. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { CROWDED } from './seed-issues.ts'
import { moment, numbers } from './seed-tree.ts'
import { daysAgo } from './seed.ts'

const JOBS = 10
const USER = 10
/** As many of a small project as of a large one. */
const RARE_ONES = 20
const OVER_DAYS = 100
export const RARE_REF = 'rare'
export const RUNNER = 1

export async function seedPipelines(url: string, count: number): Promise<void> {
  const store = await openStore(url, { durable: false, shared: true, poolSize: 1 })
  try {
    await migrate(store)
    await store.db.transaction().execute((db) => fill(db, count))
    if (store.engine === 'postgres') await sql`vacuum analyze`.execute(store.db)
  } finally {
    await store.close()
  }
}

async function fill(db: Db, count: number): Promise<void> {
  const lit = (value: number | string) => sql.lit(value)
  const add = (table: string, rows: number, values: Record<string, RawBuilder<unknown>>) =>
    sql`insert into ${sql.table(table)} (${sql.raw(Object.keys(values).join(', '))})
      select ${sql.join(Object.values(values))} from ${numbers(rows)}`.execute(db)
  const now = lit(daysAgo(0))
  const one = { token_digest: sql`'digest' || n`, token_sealed: sql`''`, created_at: now, updated_at: now }
  await add('runners', 1, { id: lit(RUNNER), runner_type: lit('instance_type'), ...one })
  const step = (OVER_DAYS * 86_400) / count
  const pipeline = {
    id: sql`n`,
    project_id: lit(CROWDED),
    iid: sql`n`,
    source: sql`case when n % 5 = 0 then 'web' else 'push' end`,
    status: statusOf(sql`n`, count),
    ref: sql`case when n % ${lit(count / RARE_ONES)} = 1 then ${lit(RARE_REF)} else 'master' end`,
    sha: sql`'0123456789012345678901234567' || (100000000000 + n)`,
    before_sha: lit('0'.repeat(40)),
    user_id: lit(USER),
    created_at: moment(daysAgo(OVER_DAYS), sql`n * ${lit(step)}`, db),
    updated_at: moment(daysAgo(OVER_DAYS), sql`n * ${lit(step)} + 60`, db),
  }
  await add('pipelines', count, pipeline)
  const of = sql`1 + (n - 1) / ${lit(JOBS)}`
  await add('ci_jobs', count * JOBS, {
    id: sql`n`,
    project_id: lit(CROWDED),
    pipeline_id: of,
    name: sql`'job' || n % ${lit(JOBS)}`,
    stage: lit('test'),
    stage_position: lit(2),
    status: statusOf(of, count),
    ref: lit('master'),
    sha: sql`'0123456789012345678901234567' || (100000000000 + ${of})`,
    user_id: lit(USER),
    runner_id: lit(RUNNER),
    created_at: moment(daysAgo(OVER_DAYS), sql`(${of}) * ${lit(step)}`, db),
    updated_at: moment(daysAgo(OVER_DAYS), sql`(${of}) * ${lit(step)} + 60`, db),
  })
}

/** A few run, however many there are. */
const statusOf = (pipeline: RawBuilder<unknown>, count: number) => sql`case
  when (${pipeline}) % ${sql.lit(count / RARE_ONES)} = 2 then 'running'
  when (${pipeline}) % 10 = 3 then 'failed' else 'success' end`
