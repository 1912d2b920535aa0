import type { Kysely } from 'kysely'
import { countChanges, logChanges } from '../helpers/counts.ts'

/** Totals of snippets follow the changed rows. */
export async function up(db: Kysely<never>): Promise<void> {
  await logChanges(db, 'snippets', { scope: 'author_id', columns: ['project_id', 'visibility', 'created_at'] })
  // The visibility of project snippets depends on this setting.
  await countChanges(db, 'projects', ['snippets_access_level'], 'project_snippets')
}
