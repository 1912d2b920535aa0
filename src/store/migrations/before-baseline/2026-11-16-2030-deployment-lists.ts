import type { Kysely } from 'kysely'
import { countFacets, logChanges } from '../helpers/counts.ts'
import { isSqlite } from '../helpers/columns.ts'

/** Indexes for lists and counts of deployments. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const columns of [
    ['project_id', 'id'],
    ['project_id', 'finished_at', 'id'],
    ['environment_id', 'status', 'id'],
  ]) {
    await db.schema
      .createIndex(`deployments_by_${columns.join('_')}`)
      .on('deployments')
      .columns(columns)
      .execute()
  }
  await countFacets(db, 'deployments', { project_id: 'integer', status: 'text' })
  await logChanges(db, 'deployments', {
    scope: 'project_id',
    columns: ['status', 'environment_id', 'updated_at', 'finished_at'],
  })
  if (!isSqlite(db)) {
    await db.schema.createIndex('deployments_facets_project_id').on('deployments_facets').column('project_id').execute()
  }
}
