import { sql, type Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { binaryText, columnTypes, isSqlite } from '../helpers/columns.ts'

/** Attributes of users, and indexes for filters and orders, that clients of later releases know. */
export async function up(db: Kysely<never>): Promise<void> {
  await addToUsers(db)
  await markBots(db)
  const index = (name: string, on: string) => sql.raw(`create index ${name} on ${on}`).execute(db)
  await index('users_by_name', `users (${binaryText(db, 'name')}, id)`)
  await index('users_by_username', `users (${binaryText(db, 'username')}, id)`)
  await index('users_by_update', 'users (updated_at, id)')
  await index('users_second_factor', 'users (two_factor_enabled, id)')
  await index('users_admin', 'users (id) where admin')
  await index('users_bot', 'users (id) where bot')
  await index('users_ghost', 'users (id) where ghost')
  await index('users_public_email', 'users (public_email) where public_email is not null')
  await countChanges(db, 'users', ['admin', 'bot', 'two_factor_enabled', 'public_email'], 'user_accounts')
  await index('projects_imported', 'projects (creator_id, id) where import_url is not null')
  await index('projects_storage', 'projects (repository_storage, id)')
  await countChanges(db, 'projects', ['creator_id', 'import_url', 'repository_storage'], 'project_origins')
  await countChanges(db, 'projects', ['updated_at'], 'project_updates')
}

async function addToUsers(db: Kysely<never>): Promise<void> {
  const { boolean, no } = columnTypes(db)
  const users = db.schema.alterTable('users')
  for (const name of ['public_email', 'pronouns', 'note']) await users.addColumn(name, 'text').execute()
  await users.addColumn('job_title', 'text', (c) => c.notNull().defaultTo('')).execute()
  await users.addColumn('bot', boolean, (c) => c.notNull().defaultTo(no)).execute()
}

/** By trigger, because a process of the previous version may still create them. */
async function markBots(db: Kysely<never>): Promise<void> {
  const { yes } = columnTypes(db)
  await sql`update users set bot = ${yes} where id in (select user_id from resource_bots)`.execute(db)
  const run = (text: string) => sql.raw(text).execute(db)
  const mark = (value: string) => `update users set bot = ${value} where id = new.user_id;`
  if (isSqlite(db)) {
    await run(`create trigger users_bot after insert on resource_bots begin ${mark('1')} end`)
    return
  }
  await run(`create function users_bot() returns trigger language plpgsql as $$ begin
    ${mark('true')}
    return null;
  end $$`)
  await run('create trigger users_bot after insert on resource_bots for each row execute function users_bot()')
}
