import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

const SWITCHES = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'incident_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'commit_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'comment_on_event_enabled',
]

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, boolean, timestamp, yes } = columnTypes(db)
  let services = withId(db.schema.createTable('services'))
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('active', boolean, (c) => c.notNull())
    /** Has no settings of its own: the ones of the nearest group apply. */
    .addColumn('inherits', boolean, (c) => c.notNull())
    .addColumn('properties', 'text', (c) => c.notNull())
    .addColumn('secrets_sealed', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
  for (const name of SWITCHES) services = services.addColumn(name, boolean, (c) => c.notNull().defaultTo(yes))
  await services.execute()
  await sql`create unique index services_project_id_slug_unique on services (project_id, slug) where project_id is not null`.execute(
    db,
  )
  await sql`create unique index services_group_id_slug_unique on services (group_id, slug) where group_id is not null`.execute(
    db,
  )

  /**
   * Maps a chat user to a user here, for one integration: the owner of another integration could claim any chat user.
   */
  await withId(db.schema.createTable('chat_names'))
    .addColumn('service_id', ref, (c) => c.notNull().references('services.id').onDelete('cascade'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('team_id', 'text', (c) => c.notNull())
    .addColumn('team_domain', 'text')
    .addColumn('chat_id', 'text', (c) => c.notNull())
    .addColumn('chat_name', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('last_used_at', timestamp)
    .execute()
  await sql`create unique index chat_names_service_id_team_id_chat_id_unique on chat_names (service_id, team_id, chat_id)`.execute(
    db,
  )
  await sql`create index chat_names_user on chat_names (user_id, id)`.execute(db)
}
