import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

/** The last differences to the baseline: a type, and names that were left from a renamed table. */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  if (isSqlite(db)) {
    await run('create table plan_limits_new (name text primary key, value integer not null)')
    await run('insert into plan_limits_new select name, value from plan_limits')
    await run('drop table plan_limits')
    await run('alter table plan_limits_new rename to plan_limits')
    return
  }
  for (const name of ['pkey', 'hook_id_fkey', 'message_id_fkey'])
    await run(`alter table hook_attempts rename constraint hook_attempts_new_${name} to hook_attempts_${name}`)
  await run('alter sequence hook_attempts_new_id_seq rename to hook_attempts_id_seq')
  // Without a condition that is always true.
  await run('drop trigger ci_artifacts_left_1 on ci_artifacts')
  await run(`create trigger ci_artifacts_left_1 after delete on ci_artifacts
    for each row execute function ci_artifacts_left_1()`)
}
