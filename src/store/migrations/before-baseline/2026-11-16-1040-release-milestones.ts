import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .createTable('release_milestones')
    .addColumn('release_id', ref, (c) => c.notNull().references('releases.id').onDelete('cascade'))
    .addColumn('milestone_id', ref, (c) => c.notNull().references('milestones.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('release_milestones_unique', ['release_id', 'milestone_id'] as never[])
    .execute()
  await db.schema.createIndex('release_milestones_milestone').on('release_milestones').column('milestone_id').execute()
}
