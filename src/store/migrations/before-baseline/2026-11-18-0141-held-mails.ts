import { sql, type Kysely } from 'kysely'

/** Mails that wait for a digest are found by recipient. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index notification_mails_held on notification_mails (user_id, notification_id)
    where state = 'held'`.execute(db)
}
