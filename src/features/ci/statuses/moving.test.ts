/** The migration moves statuses that were reported before pipelines existed to pipelines. */
import { sql, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { columnTypes } from '../../../store/migrations/helpers/columns.ts'
import { up } from '../../../store/migrations/before-baseline/2026-11-16-2010-statuses-of-pipelines.ts'

test('older statuses are jobs of one pipeline for each commit and ref', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const db = forge.app.db as unknown as Kysely<never>
  const { timestamp } = columnTypes(db)
  await sql`create table commit_statuses (id integer, project_id integer, sha text, ref text, name text, stage text,
    status text, target_url text, description text, coverage double precision, allow_failure boolean, retried boolean,
    author_id integer, created_at ${timestamp}, started_at ${timestamp}, finished_at ${timestamp})`.execute(db)
  const add = (n: number, sha: string, name: string, status: string, retried: boolean) =>
    sql`insert into commit_statuses (id, project_id, sha, ref, name, stage, status, coverage, allow_failure, retried,
      created_at, finished_at) values (${n}, ${id}, ${sha}, 'master', ${name}, 'external', ${status}, 1.5, ${false},
      ${retried}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z')`.execute(db)
  await add(1, 'a'.repeat(40), 'ci', 'failed', true)
  await add(2, 'a'.repeat(40), 'ci', 'success', false)
  await add(3, 'b'.repeat(40), 'ci', 'failed', false)
  await up(db)
  const pipelines = await forge.app.db.selectFrom('pipelines').selectAll().orderBy('id').execute()
  expect(pipelines).toMatchObject([
    { iid: 1, source: 'external', status: 'success', sha: 'a'.repeat(40), ref: 'master', tag: false },
    { iid: 2, source: 'external', status: 'failed', sha: 'b'.repeat(40) },
  ])
  const jobs = await forge.app.db.selectFrom('ci_jobs').selectAll().orderBy('id').execute()
  expect(jobs).toMatchObject([
    { kind: 'external', name: 'ci', status: 'failed', retried: true, failure_reason: 'api_failure' },
    { status: 'success', retried: false, pipeline_id: pipelines[0]!.id, coverage: 1.5 },
    { status: 'failed', pipeline_id: pipelines[1]!.id },
  ])
})
