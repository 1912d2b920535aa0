import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Bot accounts of group and project access tokens. Both ids are null once the group or project is deleted. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .createTable('resource_bots')
    .addColumn('user_id', ref, (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('set null'))
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('set null'))
    .execute()
  for (const source of ['group_id', 'project_id'])
    await db.schema.createIndex(`resource_bots_${source}`).on('resource_bots').columns([source]).execute()
}
