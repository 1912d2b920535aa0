import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, yes, no } = columnTypes(db)

  /** Of projects with their own settings; all others have the defaults. */
  await db.schema
    .createTable('approval_settings')
    .addColumn('project_id', ref, (c) => c.primaryKey().references('projects.id').onDelete('cascade'))
    .addColumn('reset_approvals_on_push', boolean, (c) => c.notNull().defaultTo(yes))
    .addColumn('disable_overriding_approvers_per_merge_request', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('merge_requests_author_approval', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('merge_requests_disable_committers_approval', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('require_password_to_approve', boolean, (c) => c.notNull().defaultTo(no))
    .execute()

  await withId(db.schema.createTable('approval_rules'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    /** Null: applies to all merge requests of the project. */
    .addColumn('merge_request_id', ref, (c) => c.references('merge_requests.id').onDelete('cascade'))
    /** The rule of the project that it was copied from. */
    .addColumn('source_rule_id', ref, (c) => c.references('approval_rules.id').onDelete('set null'))
    .addColumn('rule_type', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    /** For code owners. */
    .addColumn('section', 'text')
    .addColumn('approvals_required', 'integer', (c) => c.notNull())
    .addColumn('applies_to_all_protected_branches', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('approval_rules_project')
    .on('approval_rules')
    .columns(['project_id', 'merge_request_id', 'id'])
    .execute()
  await db.schema
    .createIndex('approval_rules_merge_request')
    .on('approval_rules')
    .columns(['merge_request_id', 'id'])
    .execute()
  await db.schema.createIndex('approval_rules_source').on('approval_rules').column('source_rule_id').execute()
  await sql`create unique index approval_rules_project_id_name_unique on approval_rules (project_id, name)
    where merge_request_id is null`.execute(db)
  await sql`create unique index approval_rules_merge_request_id_name_unique on approval_rules (merge_request_id, name)
    where merge_request_id is not null and rule_type <> 'code_owner'`.execute(db)

  for (const [name, column, to] of [
    ['approval_rule_users', 'user_id', 'users.id'],
    ['approval_rule_groups', 'group_id', 'namespaces.id'],
    ['approval_rule_branches', 'protected_branch_id', 'protected_branches.id'],
  ] as const) {
    await db.schema
      .createTable(name)
      .addColumn('rule_id', ref, (c) => c.notNull().references('approval_rules.id').onDelete('cascade'))
      .addColumn(column, ref, (c) => c.notNull().references(to).onDelete('cascade'))
      .addPrimaryKeyConstraint(`${name}_unique`, ['rule_id', column] as never[])
      .execute()
    await db.schema.createIndex(`${name}_${column}`).on(name).columns([column, 'rule_id']).execute()
  }

  /** The committers of the merge request. */
  await db.schema
    .createTable('merge_request_committers')
    .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('merge_request_committers_unique', ['merge_request_id', 'user_id'] as never[])
    .execute()
  await db.schema
    .createIndex('merge_request_committers_user_id')
    .on('merge_request_committers')
    .column('user_id')
    .execute()

  /** The commits and the file that its committers and code owners were computed from. */
  await db.schema
    .createTable('merge_request_ownership')
    .addColumn('merge_request_id', ref, (c) => c.primaryKey().references('merge_requests.id').onDelete('cascade'))
    .addColumn('head_sha', 'text')
    .addColumn('base_sha', 'text')
    .addColumn('file_id', 'text')
    /** There are more commits than were checked. */
    .addColumn('overflow', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
}
