import { sql, type Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { columnTypes } from '../helpers/columns.ts'

/** The languages of projects, for lists and jobs, and the deploy tokens for jobs. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .createTable('project_languages')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    /** Percentage of the whole. */
    .addColumn('share', 'real', (c) => c.notNull())
    .addPrimaryKeyConstraint('project_languages_unique', ['project_id', 'name'] as never[])
    .execute()
  await sql`create index project_languages_name on project_languages (lower(name), project_id)`.execute(db)
  await countChanges(db, 'project_languages', ['name'])
  /** The tree that the languages were counted in. */
  await db.schema
    .createTable('project_language_trees')
    .addColumn('project_id', ref, (c) => c.primaryKey().references('projects.id').onDelete('cascade'))
    .addColumn('tree', 'text', (c) => c.notNull())
    .execute()
  await db.schema.alterTable('deploy_tokens').addColumn('secret_sealed', 'text').execute()
}
