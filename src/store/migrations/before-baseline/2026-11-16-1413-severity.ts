import type { Kysely } from 'kysely'

/** The severity of an incident. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('issues')
    .addColumn('severity', 'text', (c) => c.notNull().defaultTo('unknown'))
    .execute()
}
