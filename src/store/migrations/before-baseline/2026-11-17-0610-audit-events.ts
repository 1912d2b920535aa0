import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** The records that an event is about may be deleted when it is read: nothing here refers to a row. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('audit_events'))
    .addColumn('author_id', ref, (c) => c.notNull())
    .addColumn('author_name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('entity_type', 'text', (c) => c.notNull())
    .addColumn('entity_id', ref)
    .addColumn('entity_path', 'text')
    .addColumn('ip_address', 'text', (c) => c.notNull())
    .addColumn('details', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('audit_events_entity')
    .on('audit_events')
    .columns(['entity_type', 'entity_id', 'id'])
    .execute()
  await db.schema.createIndex('audit_events_created_at').on('audit_events').column('created_at').execute()
}
