import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** A process that finishes an interrupted merge must not treat it as a push, which closes issues by itself. */
export async function up(db: Kysely<never>): Promise<void> {
  const { boolean, no } = columnTypes(db)
  await db.schema
    .alterTable('pending_changes')
    .addColumn('merging', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
}
