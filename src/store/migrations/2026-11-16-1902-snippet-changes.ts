import type { Kysely } from 'kysely'
import { countChanges, logChanges } from '../counts.ts'

/** Totals of snippets follow the rows that changed. */
export async function up(db: Kysely<never>): Promise<void> {
  await logChanges(db, 'snippets', { scope: 'author_id', columns: ['project_id', 'visibility', 'created_at'] })
  // Whether those of a project are seen goes by this switch.
  await countChanges(db, 'projects', ['snippets_access_level'], 'project_snippets')
}
