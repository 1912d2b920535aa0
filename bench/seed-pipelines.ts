/** Pipelines of one project, each with ten jobs, in the same proportions for any number. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { addRows, fillStore, lit } from './filling.ts'
import { CROWDED } from './seed-issues.ts'
import { moment } from './seed-tree.ts'
import { daysAgo } from './seed-values.ts'

const JOBS = 10
const USER = 10
/** The same number in a small project and in a large one. */
const RARE_ONES = 20
const OVER_DAYS = 100
export const RARE_REF = 'rare'
export const RUNNER = 1

export const seedPipelines = (url: string, count: number): Promise<void> => fillStore(url, (db) => fill(db, count))

async function fill(db: Db, count: number): Promise<void> {
  const now = lit(daysAgo(0))
  const one = { token_digest: sql`'digest' || n`, token_sealed: sql`''`, created_at: now, updated_at: now }
  await addRows(db, 'runners', 1, { id: lit(RUNNER), runner_type: lit('instance_type'), ...one })
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
  await addRows(db, 'pipelines', count, pipeline)
  const of = sql`1 + (n - 1) / ${lit(JOBS)}`
  await addRows(db, 'ci_jobs', count * JOBS, {
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

/** A few are running, however many there are. */
const statusOf = (pipeline: RawBuilder<unknown>, count: number) => sql`case
  when (${pipeline}) % ${sql.lit(count / RARE_ONES)} = 2 then 'running'
  when (${pipeline}) % 10 = 3 then 'failed' else 'success' end`
