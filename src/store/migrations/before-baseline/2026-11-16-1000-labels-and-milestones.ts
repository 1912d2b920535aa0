import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, date } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))
  const unique = (name: string, columns: string[]) =>
    db.schema
      .createIndex(`${name}_${columns.join('_')}_unique`)
      .unique()
      .on(name)
      .columns(columns)
      .execute()
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  /** The last number assigned to records of a kind in a project or a group. */
  await db.schema
    .createTable('iid_counters')
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('last', 'integer', (c) => c.notNull())
    .execute()
  await unique('iid_counters', ['project_id', 'kind'])
  await unique('iid_counters', ['group_id', 'kind'])

  /** Of a project or a group, never both. */
  await table('labels')
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('color', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await unique('labels', ['project_id', 'title'])
  await unique('labels', ['group_id', 'title'])
  await index('labels_title', 'labels', ['title'])
  await countChanges(db, 'labels', ['title'])

  await db.schema
    .createTable('label_priorities')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('label_id', ref, (c) => c.notNull().references('labels.id').onDelete('cascade'))
    .addColumn('priority', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('label_priorities_unique', ['project_id', 'label_id'] as never[])
    .execute()
  await index('label_priorities_label', 'label_priorities', ['label_id'])

  /** Of a project or a group, never both. */
  await table('milestones')
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('iid', 'integer', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('active'))
    .addColumn('start_date', date)
    .addColumn('due_date', date)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  for (const parent of ['project_id', 'group_id']) {
    await unique('milestones', [parent, 'iid'])
    await unique('milestones', [parent, 'title'])
  }
  await index('milestones_title', 'milestones', ['title'])
  await countChanges(db, 'milestones', ['title', 'state', 'start_date', 'due_date'])
}
