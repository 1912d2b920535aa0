import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

const COLUMNS =
  'hook_id, message_id, trigger, url, request_headers, request_data, response_status, response_headers, response_body, execution_duration, error, created_at'

/** Attempts without a message (tests), events that hooks caused, and past events to send again. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)

  await withId(db.schema.createTable('hook_attempts_new'))
    .addColumn('hook_id', ref, (c) => c.notNull().references('hooks.id').onDelete('cascade'))
    .addColumn('message_id', ref, (c) => c.references('event_messages.id').onDelete('cascade'))
    .addColumn('trigger', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('request_headers', 'text', (c) => c.notNull())
    .addColumn('request_data', 'text')
    .addColumn('response_status', 'integer')
    .addColumn('response_headers', 'text', (c) => c.notNull())
    .addColumn('response_body', 'text', (c) => c.notNull())
    .addColumn('execution_duration', 'double precision', (c) => c.notNull())
    .addColumn('error', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await run(`insert into hook_attempts_new (${COLUMNS}) select ${COLUMNS} from hook_attempts order by id`)
  await run('drop table hook_attempts')
  await run('alter table hook_attempts_new rename to hook_attempts')
  await run('create index hook_attempts_hook on hook_attempts (hook_id, id)')
  await run('create index hook_attempts_message on hook_attempts (message_id)')
  await run('create index hook_attempts_age on hook_attempts (created_at)')

  await db.schema.alterTable('events').addColumn('root_id', ref).execute()
  await run('create index events_root on events (root_id) where root_id is not null')
  await run('create index hook_deliveries_ended on hook_deliveries (state, created_at)')

  await withId(db.schema.createTable('hook_replays'))
    .addColumn('hook_id', ref, (c) => c.notNull().references('hooks.id').onDelete('cascade'))
    .addColumn('event_ids', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await run('create index hook_replays_hook on hook_replays (hook_id)')
}
