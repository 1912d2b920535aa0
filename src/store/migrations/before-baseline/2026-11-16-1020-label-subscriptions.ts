import { sql, type Kysely } from 'kysely'

/** A group label is subscribed to in each project, and in the group separately. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.dropIndex('subscriptions_label_id_user_id_unique').execute()
  await sql`create unique index subscriptions_label_id_user_id_project_id_unique
    on subscriptions (label_id, user_id, coalesce(project_id, 0)) where label_id is not null`.execute(db)
}
