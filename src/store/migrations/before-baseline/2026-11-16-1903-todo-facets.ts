import { sql, type Kysely } from 'kysely'
import { countFacets, logChanges } from '../helpers/counts.ts'
import { isSqlite } from '../helpers/columns.ts'

/** Todos are counted by facets, and the ones that not everybody sees follow the changed rows. */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const type = `case when merge_request_id is not null then 'MergeRequest' when commit_sha is not null then 'Commit'
    else 'Issue' end`
  await run(`alter table todos add column type text generated always as (${type})
    ${isSqlite(db) ? 'virtual' : 'stored'}`)
  await countFacets(db, 'todos', {
    user_id: 'integer',
    state: 'text',
    project_id: 'integer',
    type: 'text',
    author_id: 'integer',
    action: 'text',
    reserved: 'boolean',
  })
  if (!isSqlite(db)) await run('create index todos_facets_user on todos_facets (user_id, state)')
  await logChanges(db, 'todos', { scope: 'user_id', columns: ['state', 'reserved'] })
  await run('drop index todos_counted')
  await run('create index todos_reserved on todos (user_id, state) where reserved')
  for (const column of ['project_id', 'author_id'])
    await run(`create index todos_user_${column} on todos (user_id, state, ${column}, id)`)
}
