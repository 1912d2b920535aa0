import type { Kysely } from 'kysely'

/** In which order a runner was given to projects. Of those that there are nobody knows: their oldest project is first. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('runner_projects')
    .addColumn('place', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
