import type { Kysely } from 'kysely'

/** The process that hands a job to its runner, until its answer is sent. Rows of older versions have no holder. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('ci_runs').addColumn('holder', 'text').execute()
}
