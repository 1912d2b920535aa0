import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))

  /** Of a project or a group, never both. */
  await table('boards')
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hide_backlog_list', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('hide_closed_list', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  for (const parent of ['project_id', 'group_id'])
    await db.schema.createIndex(`boards_${parent}`).on('boards').columns([parent, 'id']).execute()

  await table('board_lists')
    .addColumn('board_id', ref, (c) => c.notNull().references('boards.id').onDelete('cascade'))
    .addColumn('label_id', ref, (c) => c.notNull().references('labels.id').onDelete('cascade'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('board_lists_board_id_label_id_unique')
    .unique()
    .on('board_lists')
    .columns(['board_id', 'label_id'])
    .execute()
  await db.schema.createIndex('board_lists_label').on('board_lists').column('label_id').execute()
}
