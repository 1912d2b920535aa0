import { sql, type Kysely } from 'kysely'
import { countChanges, logLinkChanges } from '../helpers/counts.ts'
import { columnTypes } from '../helpers/columns.ts'

/** Which merge requests a deployment contains, and which users approval rules name, for lists of merge requests. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, timestamp, boolean, no } = columnTypes(db)
  await db.schema
    .createTable('deployment_merge_requests')
    .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('deployment_id', ref, (c) => c.notNull().references('deployments.id').onDelete('cascade'))
    .addColumn('environment_id', ref, (c) => c.notNull().references('environments.id').onDelete('cascade'))
    .addColumn('deployed_at', timestamp, (c) => c.notNull())
    .addPrimaryKeyConstraint('deployment_merge_requests_unique', ['merge_request_id', 'deployment_id'] as never[])
    .execute()
  const index = (name: string, on: string) => sql.raw(`create index ${name} on ${on}`).execute(db)
  await index('deployment_merge_requests_deployment', 'deployment_merge_requests (deployment_id)')
  await index('deployment_merge_requests_environment', 'deployment_merge_requests (environment_id, deployed_at)')
  await index('deployment_merge_requests_moment', 'deployment_merge_requests (deployed_at)')
  await index('environments_name', 'environments (name, project_id)')
  await logLinkChanges(db, 'merge_requests', {
    link: 'deployment_merge_requests',
    scope: 'project_id',
    by: 'merge_request_id',
    columns: ['environment_id', 'deployed_at'],
  })
  await countChanges(db, 'environments', ['name'], 'environments', { scope: 'project_id' })
  await countChanges(db, 'approval_rule_users', ['user_id'])
  await countChanges(db, 'projects', ['builds_access_level'], 'project_builds')
  // A job processes the existing deployments.
  await db.schema
    .alterTable('deployments')
    .addColumn('linked', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await index('deployments_unlinked', `deployments (id) where status = 'success' and not linked`)
}
