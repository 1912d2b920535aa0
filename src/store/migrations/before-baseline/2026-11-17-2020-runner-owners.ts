import type { Kysely } from 'kysely'

/**
 * The order in which a runner was assigned to projects. For existing rows it is unknown: the oldest project comes
 * first.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('runner_projects')
    .addColumn('place', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
