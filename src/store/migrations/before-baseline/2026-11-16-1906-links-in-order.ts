import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * Links to users contain the creation date of their issue or merge request: lists of a user's work are read in that
 * order.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)
  for (const [links, rows, key] of [
    ['issue_assignees', 'issues', 'issue_id'],
    ['merge_request_assignees', 'merge_requests', 'merge_request_id'],
    ['merge_request_reviewers', 'merge_requests', 'merge_request_id'],
    ['merge_request_approvals', 'merge_requests', 'merge_request_id'],
  ] as const) {
    await db.schema.alterTable(links).addColumn('since', timestamp).execute()
    await run(`update ${links} set since = (select created_at from ${rows} r where r.id = ${links}.${key})`)
    // The next index begins with the same column.
    if (rows === 'merge_requests') await run(`drop index ${links}_user_id`)
    await run(`create index ${links}_since on ${links} (user_id, since, ${key})`)
    const since = `(select created_at from ${rows} where id = new.${key})`
    const moved = `update ${links} set since = new.created_at where ${key} = new.id;`
    if (isSqlite(db)) {
      await run(`create trigger ${links}_since_i after insert on ${links} begin
        update ${links} set since = ${since} where ${key} = new.${key} and user_id = new.user_id; end`)
      await run(`create trigger ${links}_since_u after update of created_at on ${rows}
        when new.created_at <> old.created_at begin ${moved} end`)
      continue
    }
    await run(`create function ${links}_since() returns trigger language plpgsql as $$ begin
      new.since := ${since}; return new;
    end $$`)
    await run(`create trigger ${links}_since before insert on ${links} for each row execute function ${links}_since()`)
    await run(`create function ${links}_since_moved() returns trigger language plpgsql as $$ begin
      ${moved} return null;
    end $$`)
    await run(`create trigger ${links}_since_moved after update of created_at on ${rows} for each row
      when (new.created_at <> old.created_at) execute function ${links}_since_moved()`)
  }
  await run('drop index merge_requests_merge_user')
  await run('create index merge_requests_merge_user on merge_requests (merge_user_id, created_at, id)')
}
