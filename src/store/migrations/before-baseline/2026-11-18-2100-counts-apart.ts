import { sql, type Kysely } from 'kysely'
import { countFacets } from '../helpers/counts.ts'
import { isSqlite } from '../helpers/columns.ts'

/**
 * Open issues and artifact sizes are no longer stored in the row of their project, so that creating one never waits for
 * that row. Open issues are added up from `issues_facets`, sizes from `ci_artifacts_facets`. The columns stay unchanged
 * for a process of the previous version that still runs.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const leave = 'insert into ci_left_blobs (content) values (old.digest);'
  if (isSqlite(db)) {
    for (const name of ['i', 'd', 'on', 'off']) await run(`drop trigger open_issues_${name}`)
    for (const n of [0, 1]) await run(`drop trigger ci_artifacts_left_${n}`)
    await run(`create trigger ci_artifacts_left_1 after delete on ci_artifacts begin ${leave} end`)
  } else {
    await run('drop trigger open_issues on issues')
    await run('drop function open_issues()')
    await run('drop trigger ci_artifacts_left_0 on ci_artifacts')
    await run('drop function ci_artifacts_left_0()')
    await run(`create or replace function ci_artifacts_left_1() returns trigger language plpgsql as $$ begin
      ${leave} return null; end $$`)
  }
  await countFacets(db, 'ci_artifacts', { project_id: 'integer' }, 'size')
  if (!isSqlite(db)) await run('create index ci_artifacts_facets_project on ci_artifacts_facets (project_id)')
}
