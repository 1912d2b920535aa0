import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/**
 * The existing addresses were never proven: each becomes a claim until its link is followed, and the signatures they
 * verified are checked again.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('emails').addColumn('confirmed_at', columnTypes(db).timestamp).execute()
  await db.schema.dropIndex('emails_email_unique').execute()
  await sql`create unique index emails_email_unique on emails (email) where confirmed_at is not null`.execute(db)
  await sql`create unique index emails_user_id_email_unique on emails (user_id, email)`.execute(db)
  await db.schema.createIndex('emails_email').on('emails').column('email').execute()
  await sql`delete from signatures where key_id is not null or gpg_key_id is not null`.execute(db)
}
