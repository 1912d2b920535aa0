import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Self-registration. One setting has two names; if it was enabled by the older name, it stays enabled. */
export async function up(db: Kysely<never>): Promise<void> {
  const { timestamp } = columnTypes(db)
  await db.schema.alterTable('users').addColumn('confirm_by', timestamp).execute()
  await db.schema.alterTable('users').addColumn('accepted_terms', 'text').execute()
  await sql`insert into settings (name, value)
    select 'email_confirmation_setting', '"hard"' from settings
    where name = 'send_user_confirmation_email' and value = 'true'
    on conflict (name) do update set value = excluded.value`.execute(db)
  await sql`insert into settings (name, value)
    select 'send_user_confirmation_email', 'true' from settings
    where name = 'email_confirmation_setting' and value = '"hard"'
    on conflict (name) do update set value = excluded.value`.execute(db)
}
