import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Mail notifications: which user got which, so that nobody gets one twice. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('notifications'))
    /** The same value each time the event is delivered. */
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('facts', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create unique index notifications_source_unique on notifications (source)`.execute(db)
  await db.schema.createIndex('notifications_created_at').on('notifications').column('created_at').execute()
  await db.schema.createIndex('notifications_project_id').on('notifications').column('project_id').execute()
  await db.schema.createIndex('notifications_by_id').on('notifications').column('by_id').execute()

  await db.schema
    .createTable('notification_mails')
    .addColumn('notification_id', ref, (c) => c.notNull().references('notifications.id').onDelete('cascade'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('notification_mails_pk', ['notification_id', 'user_id'])
    .execute()
  await db.schema.createIndex('notification_mails_user_id').on('notification_mails').column('user_id').execute()

  await db.schema
    .alterTable('notification_settings')
    .addColumn('notified_of_own_activity', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await sql`create index issues_due on issues (due_date, id) where due_date is not null`.execute(db)
}
