import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Of a user, a group or a project: exactly one of them is set. */
export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref } = columnTypes(db)
  await withId(db.schema.createTable('custom_attributes'))
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute()
  for (const whose of ['user_id', 'group_id', 'project_id'])
    await db.schema
      .createIndex(`custom_attributes_${whose}_key_unique`)
      .unique()
      .on('custom_attributes')
      .columns([whose, 'key'])
      .execute()
}
