import { sql, type Kysely } from 'kysely'

interface Told {
  id: number
  project_id: number
  sha: string
  ref: string
  name: string
  status: string
  target_url: string | null
  description: string | null
  coverage: number | null
  allow_failure: boolean
  retried: boolean
  author_id: number | null
  created_at: string
  started_at: string | null
  finished_at: string | null
}

const AT_ONCE = 500
const OPEN = ['pending', 'running']

/** Commit statuses become jobs of pipelines, one pipeline for each commit and ref. */
export async function up(given: Kysely<never>): Promise<void> {
  const db = given as unknown as Kysely<Record<string, Record<string, unknown>>>
  const places = await sql<{ project_id: number; sha: string; ref: string }>`
    select project_id, sha, ref from commit_statuses group by project_id, sha, ref order by min(id)`.execute(db)
  const iids = new Map<number, number>()
  for (const { project_id, sha, ref } of places.rows) {
    const told = await sql<Told>`select * from commit_statuses
      where project_id = ${project_id} and sha = ${sha} and ref = ${ref} order by id`.execute(db)
    const iid = (iids.get(project_id) ?? 0) + 1
    iids.set(project_id, iid)
    const pipeline = await addPipeline(db, told.rows, { project_id, iid, sha, ref })
    for (let n = 0; n < told.rows.length; n += AT_ONCE) {
      const rows = told.rows.slice(n, n + AT_ONCE).map((one) => jobOf(one, pipeline))
      await db.insertInto('ci_jobs').values(rows).execute()
    }
  }
  for (const [project_id, last] of iids)
    await db.insertInto('iid_counters').values({ project_id, group_id: null, kind: 'pipelines', last }).execute()
  await db.schema.dropTable('commit_statuses').execute()
}

async function addPipeline(
  db: Kysely<Record<string, Record<string, unknown>>>,
  told: readonly Told[],
  place: { project_id: number; iid: number; sha: string; ref: string },
): Promise<number> {
  const status = sumOf(told.filter(({ retried }) => !retried))
  const first = told[0]!
  const last = told.at(-1)!
  const { id } = await db
    .insertInto('pipelines')
    .values({
      ...place,
      source: 'external',
      status,
      before_sha: '0'.repeat(40),
      user_id: first.author_id,
      created_at: first.created_at,
      updated_at: last.finished_at ?? last.created_at,
      started_at: first.started_at,
      finished_at: OPEN.includes(status) ? null : last.finished_at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return Number(id)
}

const jobOf = (one: Told, pipeline_id: number) => ({
  kind: 'external',
  project_id: one.project_id,
  pipeline_id,
  name: one.name,
  stage: 'external',
  stage_position: 1_000_000,
  status: one.status,
  allow_failure: one.allow_failure,
  retried: one.retried,
  ref: one.ref,
  sha: one.sha,
  user_id: one.author_id,
  failure_reason: one.status === 'failed' ? 'api_failure' : null,
  coverage: one.coverage,
  target_url: one.target_url,
  description: one.description,
  queued_at: one.created_at,
  started_at: one.started_at,
  finished_at: one.finished_at,
  created_at: one.created_at,
  updated_at: one.finished_at ?? one.created_at,
})

function sumOf(rows: readonly Told[]): string {
  const counted = rows.map(({ status, allow_failure }) => (allow_failure && status === 'failed' ? 'success' : status))
  const isOpen = counted.some((status) => OPEN.includes(status))
  if (isOpen) return counted.every((status) => status === 'pending') ? 'pending' : 'running'
  for (const status of ['failed', 'canceled', 'success']) if (counted.includes(status)) return status
  return 'skipped'
}
