import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { boolean, yes, no, ref } = columnTypes(db)
  type Type = Parameters<ReturnType<typeof db.schema.alterTable>['addColumn']>[1]
  const addTo = (table: string) => async (name: string, type: Type, initial?: unknown) => {
    const column = db.schema.alterTable(table)
    await column.addColumn(name, type, (c) => (initial === undefined ? c : c.notNull().defaultTo(initial))).execute()
  }

  const project = addTo('projects')
  await project('autoclose_referenced_issues', boolean, yes)
  await project('allow_merge_on_skipped_pipeline', boolean, no)
  await project('suggestion_commit_message', 'text')
  await project('packages_enabled', boolean, yes)
  await project('pages_access_level', 'integer', 20)
  await project('emails_disabled', boolean, no)
  await project('build_timeout', 'integer', 3600)
  await project('build_git_strategy', 'text', 'fetch')
  await project('auto_cancel_pending_pipelines', 'text', 'enabled')
  await project('auto_devops_enabled', boolean, no)
  await project('auto_devops_deploy_strategy', 'text', 'continuous')
  await project('container_expiration_policy', 'text')
  // Null is a valid value: the whole history.
  await db.schema
    .alterTable('projects')
    .addColumn('ci_default_git_depth', 'integer', (c) => c.defaultTo(20))
    .execute()

  const group = addTo('namespaces')
  await group('project_creation_level', 'text', 'maintainer')
  await group('subgroup_creation_level', 'text', 'owner')
  await group('require_two_factor_authentication', boolean, no)
  await group('two_factor_grace_period', 'integer', 48)
  await group('emails_disabled', boolean, no)
  await group('auto_devops_enabled', boolean)

  // A link names a directory group or has a filter; the other one is empty.
  await addTo('ldap_group_links')('filter', 'text', '')
  await db.schema.dropIndex('ldap_group_links_group_id_provider_cn_unique').execute()
  await sql`create unique index ldap_group_links_group_id_provider_cn_unique
    on ldap_group_links (group_id, provider, cn) where filter = ''`.execute(db)
  await sql`create unique index ldap_group_links_group_id_provider_filter_unique
    on ldap_group_links (group_id, provider, filter) where filter <> ''`.execute(db)

  await db.schema
    .createTable('job_totals')
    .addColumn('processed', ref, (c) => c.notNull())
    .addColumn('failed', ref, (c) => c.notNull())
    .execute()
  await sql`insert into job_totals (processed, failed) values (0, 0)`.execute(db)
}
