import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Notification settings; until now a number in each membership. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('notification_settings'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    /** With neither: the global setting. */
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('level', 'integer', (c) => c.notNull())
    .addColumn('notification_email', 'text')
    /** The explicitly set events, as JSON. */
    .addColumn('events', 'text', (c) => c.notNull().defaultTo('{}'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create unique index notification_settings_project_id_user_id_unique
    on notification_settings (project_id, user_id) where project_id is not null`.execute(db)
  await sql`create unique index notification_settings_group_id_user_id_unique
    on notification_settings (group_id, user_id) where group_id is not null`.execute(db)
  await sql`create unique index notification_settings_user_id_unique
    on notification_settings (user_id) where project_id is null and group_id is null`.execute(db)
  await db.schema.createIndex('notification_settings_user').on('notification_settings').column('user_id').execute()

  await sql`insert into notification_settings (user_id, project_id, group_id, level, created_at, updated_at)
    select user_id, project_id, group_id, notification_level, updated_at, updated_at from members
    where notification_level <> 3`.execute(db)
  await db.schema.alterTable('members').dropColumn('notification_level').execute()
}
