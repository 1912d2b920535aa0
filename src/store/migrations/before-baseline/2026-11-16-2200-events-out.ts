import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

const OLD_SWITCHES = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'releases_events',
  'feature_flag_events',
  'emoji_events',
  'resource_access_token_events',
  'vulnerability_events',
]
const NEW_SWITCHES = ['repository_update_events', 'subgroup_events', 'member_events', 'project_events']
const OLD_COLUMNS = [
  'id',
  'project_id',
  'url',
  'name',
  'description',
  'token_sealed',
  'enable_ssl_verification',
  'push_events_branch_filter',
  'branch_filter_strategy',
  ...OLD_SWITCHES,
  'created_at',
  'updated_at',
].join(', ')

/** Hooks of groups and of the instance, in addition to projects, and the log of sent messages. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, boolean, timestamp, no } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)

  let hooks = withId(db.schema.createTable('hooks'))
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('description', 'text')
    .addColumn('token_sealed', 'text')
    .addColumn('signing_token_sealed', 'text')
    .addColumn('url_variables_sealed', 'text')
    .addColumn('custom_headers_sealed', 'text')
    .addColumn('custom_webhook_template', 'text')
    .addColumn('enable_ssl_verification', boolean, (c) => c.notNull())
    .addColumn('push_events_branch_filter', 'text', (c) => c.notNull())
    .addColumn('branch_filter_strategy', 'text', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('disabled_until', timestamp)
  for (const name of [...OLD_SWITCHES, ...NEW_SWITCHES])
    hooks = hooks.addColumn(name, boolean, (c) => c.notNull().defaultTo(no))
  await hooks
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await run(`insert into hooks (${OLD_COLUMNS}) select ${OLD_COLUMNS} from project_hooks order by id`)
  if (!isSqlite(db))
    await run(`select setval(pg_get_serial_sequence('hooks', 'id'), greatest((select max(id) from hooks), 1))`)
  await run('drop table project_hooks')
  await run('create index hooks_project on hooks (project_id, id)')
  await run('create index hooks_group on hooks (group_id, id)')

  await db.schema.alterTable('events').addColumn('project_id', ref).execute()
  await db.schema.alterTable('events').addColumn('group_id', ref).execute()
  await db.schema.alterTable('events').addColumn('position', ref).execute()
  await db.schema
    .alterTable('events')
    .addColumn('described', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await run('create unique index events_position_unique on events (position) where position is not null')
  await run('create index events_project on events (project_id, position) where project_id is not null')
  await run('create index events_group on events (group_id, position) where group_id is not null')
  await db.schema
    .createTable('event_positions')
    .addColumn('last', ref, (c) => c.notNull())
    .execute()
  await run('insert into event_positions (last) values (0)')

  await withId(db.schema.createTable('event_messages'))
    .addColumn('event_id', ref, (c) => c.notNull().references('events.id').onDelete('cascade'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('switch', 'text')
    .addColumn('project_id', ref)
    .addColumn('group_id', ref)
    .addColumn('to_projects', boolean, (c) => c.notNull())
    .addColumn('to_groups', boolean, (c) => c.notNull())
    .addColumn('to_system', boolean, (c) => c.notNull())
    .addColumn('ref', 'text')
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('complete', boolean, (c) => c.notNull())
    .execute()
  await run('create index event_messages_event on event_messages (event_id)')

  await withId(db.schema.createTable('hook_deliveries'))
    .addColumn('message_id', ref, (c) => c.notNull().references('event_messages.id').onDelete('cascade'))
    .addColumn('hook_id', ref, (c) => c.references('hooks.id').onDelete('cascade'))
    .addColumn('service_id', ref)
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('due_at', timestamp, (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await run('create index hook_deliveries_message on hook_deliveries (message_id)')
  for (const receiver of ['hook_id', 'service_id']) {
    const waiting = `where ${receiver} is not null and state = 'waiting'`
    await run(`create index hook_deliveries_${receiver} on hook_deliveries (${receiver}, id) ${waiting}`)
    await run(`create index hook_deliveries_${receiver}_due on hook_deliveries (${receiver}, due_at) ${waiting}`)
  }
  await run('create index hook_deliveries_hook on hook_deliveries (hook_id) where hook_id is not null')

  // One for each receiver with pending messages.
  await withId(db.schema.createTable('delivery_lanes'))
    .addColumn('hook_id', ref, (c) => c.references('hooks.id').onDelete('cascade'))
    .addColumn('service_id', ref)
    .addColumn('due_at', timestamp, (c) => c.notNull())
    .addColumn('lease_until', timestamp)
    .addColumn('troubled', boolean, (c) => c.notNull())
    .execute()
  await run('create unique index delivery_lanes_hook_id_unique on delivery_lanes (hook_id)')
  await run('create unique index delivery_lanes_service_id_unique on delivery_lanes (service_id)')
  await run('create index delivery_lanes_due on delivery_lanes (troubled, due_at)')

  await withId(db.schema.createTable('hook_attempts'))
    .addColumn('hook_id', ref, (c) => c.notNull().references('hooks.id').onDelete('cascade'))
    .addColumn('message_id', ref, (c) => c.notNull().references('event_messages.id').onDelete('cascade'))
    .addColumn('trigger', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('request_headers', 'text', (c) => c.notNull())
    // Null if it equals the body of the message.
    .addColumn('request_data', 'text')
    .addColumn('response_status', 'integer')
    .addColumn('response_headers', 'text', (c) => c.notNull())
    .addColumn('response_body', 'text', (c) => c.notNull())
    .addColumn('execution_duration', 'double precision', (c) => c.notNull())
    .addColumn('error', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await run('create index hook_attempts_hook on hook_attempts (hook_id, id)')
  await run('create index hook_attempts_message on hook_attempts (message_id)')
  await run('create index hook_attempts_age on hook_attempts (created_at)')
}
