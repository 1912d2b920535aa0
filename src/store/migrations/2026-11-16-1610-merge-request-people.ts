import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../dialect.ts'

const LINKS = ['merge_request_assignees', 'merge_request_reviewers', 'merge_request_approvals']

/** Links to people have the usual order of lists, so that all of one person are walked in it, however many there are. */
export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)
  for (const table of LINKS) {
    const made = (row: string) => `(select created_at from merge_requests where id = ${row}.merge_request_id)`
    await db.schema.alterTable(table).addColumn('made_at', timestamp).execute()
    await run(`update ${table} set made_at = ${made(table)}`)
    await run(`drop index ${table}_user_id`)
    await run(`create index ${table}_user_id on ${table} (user_id, made_at, merge_request_id)`)
    const moved = `update ${table} set made_at = new.created_at where merge_request_id = new.id;`
    if (isSqlite(db)) {
      await run(`create trigger ${table}_made_i after insert on ${table} begin
        update ${table} set made_at = ${made('new')}
          where merge_request_id = new.merge_request_id and user_id = new.user_id; end`)
      await run(`create trigger ${table}_made_u after update of created_at on merge_requests begin ${moved} end`)
      continue
    }
    await run(`create function ${table}_made() returns trigger language plpgsql as
      $$ begin new.made_at := ${made('new')}; return new; end $$`)
    await run(`create trigger ${table}_made before insert on ${table} for each row execute function ${table}_made()`)
    await run(`create function ${table}_moved() returns trigger language plpgsql as
      $$ begin ${moved} return null; end $$`)
    await run(`create trigger ${table}_moved after update of created_at on merge_requests
      for each row when (old.created_at <> new.created_at) execute function ${table}_moved()`)
  }
  await run('drop index merge_requests_merge_user')
  await run('create index merge_requests_merge_user on merge_requests (merge_user_id, created_at, id)')
}
