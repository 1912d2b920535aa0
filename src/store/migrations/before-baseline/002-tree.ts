import { sql, type Kysely } from 'kysely'
import { countChanges, countFacets, dropChanges, dropFacets } from '../helpers/counts.ts'
import { binaryText, columnTypes, isSqlite } from '../helpers/columns.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, date, boolean, yes, no } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))

  await countAnew(db)
  await extendNamespaces(db)

  /** Every namespace with itself and all its ancestors: a membership in any of them counts for it. */
  await db.schema
    .createTable('namespace_ancestors')
    .addColumn('namespace_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('ancestor_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('depth', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('namespace_ancestors_unique', ['namespace_id', 'ancestor_id'] as never[])
    .execute()
  await db.schema
    .createIndex('namespace_ancestors_down')
    .on('namespace_ancestors')
    .columns(['ancestor_id', 'namespace_id'])
    .execute()
  // Until now there were only personal namespaces, none of which has a parent.
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth) select id, id, 0 from namespaces`.execute(
    db,
  )

  await table('projects')
    .addColumn('namespace_id', ref, (c) => c.notNull().references('namespaces.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('archived', boolean, (c) => c.notNull())
    .addColumn('deleting', boolean, (c) => c.notNull())
    .addColumn('creator_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('forked_from_id', ref, (c) => c.references('projects.id').onDelete('set null'))
    /** The path of the repository in its storage. It never changes, so a rename moves no files. */
    .addColumn('disk_path', 'text', (c) => c.notNull())
    .addColumn('repository_storage', 'text', (c) => c.notNull())
    .addColumn('default_branch', 'text', (c) => c.notNull())
    .addColumn('empty_repo', boolean, (c) => c.notNull())
    .addColumn('readme_path', 'text')
    .addColumn('repository_access_level', 'integer', (c) => c.notNull())
    .addColumn('issues_access_level', 'integer', (c) => c.notNull())
    .addColumn('merge_requests_access_level', 'integer', (c) => c.notNull())
    .addColumn('builds_access_level', 'integer', (c) => c.notNull())
    .addColumn('wiki_access_level', 'integer', (c) => c.notNull())
    .addColumn('snippets_access_level', 'integer', (c) => c.notNull())
    .addColumn('forking_access_level', 'integer', (c) => c.notNull())
    .addColumn('container_registry_access_level', 'integer', (c) => c.notNull())
    .addColumn('resolve_outdated_diff_discussions', boolean, (c) => c.notNull())
    .addColumn('shared_runners_enabled', boolean, (c) => c.notNull())
    .addColumn('public_jobs', boolean, (c) => c.notNull())
    .addColumn('only_allow_merge_if_pipeline_succeeds', boolean, (c) => c.notNull())
    .addColumn('only_allow_merge_if_all_discussions_are_resolved', boolean, (c) => c.notNull())
    .addColumn('printing_merge_requests_link_enabled', boolean, (c) => c.notNull())
    .addColumn('lfs_enabled', boolean, (c) => c.notNull())
    .addColumn('request_access_enabled', boolean, (c) => c.notNull())
    .addColumn('remove_source_branch_after_merge', boolean, (c) => c.notNull())
    .addColumn('merge_method', 'text', (c) => c.notNull())
    .addColumn('squash_option', 'text', (c) => c.notNull())
    .addColumn('approvals_before_merge', 'integer', (c) => c.notNull())
    .addColumn('ci_config_path', 'text')
    .addColumn('avatar_digest', 'text')
    .addColumn('avatar_filename', 'text')
    .addColumn('avatar_type', 'text')
    .addColumn('runners_token_digest', 'text', (c) => c.notNull())
    .addColumn('runners_token_sealed', 'text', (c) => c.notNull())
    /** Without the credentials, which are encrypted in the next column. */
    .addColumn('import_url', 'text')
    .addColumn('import_credentials_sealed', 'text')
    .addColumn('import_status', 'text', (c) => c.notNull())
    .addColumn('import_error', 'text')
    .addColumn('import_progress', 'integer')
    .addColumn('star_count', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('forks_count', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('open_issues_count', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('commit_count', ref, (c) => c.notNull().defaultTo(0))
    .addColumn('repository_size', ref, (c) => c.notNull().defaultTo(0))
    .addColumn('lfs_objects_size', ref, (c) => c.notNull().defaultTo(0))
    .addColumn('job_artifacts_size', ref, (c) => c.notNull().defaultTo(0))
    .addColumn('housekeeping_at', timestamp)
    .addColumn('last_activity_at', timestamp, (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create unique index projects_namespace_id_path_unique on projects (namespace_id, lower(path))`.execute(db)
  await db.schema
    .createIndex('projects_namespace_id_name_unique')
    .unique()
    .on('projects')
    .columns(['namespace_id', 'name'])
    .execute()
  await db.schema
    .createIndex('projects_runners_token_digest_unique')
    .unique()
    .on('projects')
    .column('runners_token_digest')
    .execute()
  await db.schema.createIndex('projects_creator').on('projects').column('creator_id').execute()
  await db.schema.createIndex('projects_forked_from').on('projects').column('forked_from_id').execute()
  await db.schema.createIndex('projects_avatar').on('projects').column('avatar_digest').execute()
  // Every list is of active or of archived projects, in one of these orders; ids follow the order of creation.
  const order = (name: string, column: string) =>
    sql`create index ${sql.raw(name)} on projects (archived, ${sql.raw(column)}, id) where not deleting`.execute(db)
  await sql`create index projects_by_id on projects (archived, id) where not deleting`.execute(db)
  await order('projects_by_visibility', 'visibility')
  await order('projects_by_name', binaryText(db, 'name'))
  await order('projects_by_path', binaryText(db, 'path'))
  await order('projects_by_update', 'updated_at')
  await order('projects_by_activity', 'last_activity_at')
  await createSubstringIndex(db, 'projects', ['name', 'path'])
  const facets = {
    visibility: 'text',
    archived: 'boolean',
    deleting: 'boolean',
    issues_access_level: 'integer',
    merge_requests_access_level: 'integer',
  } as const
  await countFacets(db, 'projects', facets)
  await countChanges(db, 'projects', [...Object.keys(facets), 'namespace_id', 'name', 'path', 'forked_from_id'])
  await countChanges(db, 'projects', ['last_activity_at'], 'project_activity')

  await db.schema
    .createTable('project_topics')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('project_topics_unique', ['project_id', 'name'] as never[])
    .execute()
  await sql`create index project_topics_name on project_topics (lower(name), project_id)`.execute(db)
  await countChanges(db, 'project_topics', ['name'])

  await db.schema
    .createTable('stars')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addPrimaryKeyConstraint('stars_unique', ['user_id', 'project_id'] as never[])
    .execute()
  await db.schema.createIndex('stars_project').on('stars').columns(['project_id', 'user_id']).execute()
  await countChanges(db, 'stars', ['user_id'])

  await table('project_shares')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('group_access', 'integer', (c) => c.notNull())
    .addColumn('expires_at', date)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('project_shares_project_id_group_id_unique')
    .unique()
    .on('project_shares')
    .columns(['project_id', 'group_id'])
    .execute()
  await db.schema.createIndex('project_shares_group').on('project_shares').column('group_id').execute()
  await db.schema.createIndex('project_shares_expiry').on('project_shares').column('expires_at').execute()
  await countChanges(db, 'project_shares', ['group_id'])

  /** A row belongs to a group or to a project, never to both. */
  const ofSource = (name: string) =>
    table(name)
      .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
      .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
      .addCheckConstraint(`${name}_source`, sql`(group_id is null) <> (project_id is null)`)
  const oncePerSource = async (name: string, column: string) => {
    for (const source of ['group_id', 'project_id']) {
      const index = db.schema.createIndex(`${name}_${source}_${column}_unique`).unique().on(name)
      await index.columns([source, column]).execute()
    }
  }

  await ofSource('members')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('access_level', 'integer', (c) => c.notNull())
    .addColumn('notification_level', 'integer', (c) => c.notNull().defaultTo(3))
    .addColumn('expires_at', date)
    /** Granted by a directory link, and removed when the link no longer grants it. */
    .addColumn('from_directory', boolean, (c) => c.notNull().defaultTo(no))
    /** The level that a person granted, while a directory link grants a higher one. */
    .addColumn('hand_level', 'integer')
    .addColumn('created_by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await oncePerSource('members', 'user_id')
  await db.schema.createIndex('members_user').on('members').columns(['user_id', 'access_level']).execute()
  await db.schema.createIndex('members_expiry').on('members').column('expires_at').execute()
  await db.schema.createIndex('members_created_by').on('members').column('created_by_id').execute()
  await countChanges(db, 'members', ['access_level'])

  await ofSource('access_requests')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('requested_at', timestamp, (c) => c.notNull())
    .execute()
  await oncePerSource('access_requests', 'user_id')
  await db.schema.createIndex('access_requests_user').on('access_requests').column('user_id').execute()

  await ofSource('invitations')
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('access_level', 'integer', (c) => c.notNull())
    .addColumn('expires_at', date)
    .addColumn('token_digest', 'text', (c) => c.notNull())
    .addColumn('token_sealed', 'text', (c) => c.notNull())
    .addColumn('created_by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await oncePerSource('invitations', 'email')
  await db.schema
    .createIndex('invitations_token_digest_unique')
    .unique()
    .on('invitations')
    .column('token_digest')
    .execute()
  await db.schema.createIndex('invitations_email').on('invitations').column('email').execute()
  await db.schema.createIndex('invitations_created_by').on('invitations').column('created_by_id').execute()

  /** The result of memberships, inheritance, shares and ownership: reads use this table only. */
  await db.schema
    .createTable('project_authorizations')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('access_level', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('project_authorizations_unique', ['user_id', 'project_id'] as never[])
    .execute()
  await db.schema
    .createIndex('project_authorizations_project')
    .on('project_authorizations')
    .columns(['project_id', 'user_id', 'access_level'])
    .execute()
  await countChanges(db, 'project_authorizations', ['access_level'])

  /** Old paths of renamed and moved records, for the web and for git. */
  await table('redirects')
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('namespace_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create unique index redirects_path_unique on redirects (lower(path))`.execute(db)
  await db.schema.createIndex('redirects_namespace').on('redirects').column('namespace_id').execute()
  await db.schema.createIndex('redirects_project').on('redirects').column('project_id').execute()

  await table('uploads')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('size', ref, (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('uploads_project_id_secret_unique')
    .unique()
    .on('uploads')
    .columns(['project_id', 'secret'])
    .execute()
  await db.schema.createIndex('uploads_digest').on('uploads').column('digest').execute()
  await db.schema.createIndex('uploads_user').on('uploads').column('user_id').execute()

  let hooks = table('project_hooks')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('description', 'text')
    .addColumn('token_sealed', 'text')
    .addColumn('enable_ssl_verification', boolean, (c) => c.notNull())
    .addColumn('push_events_branch_filter', 'text', (c) => c.notNull())
    .addColumn('branch_filter_strategy', 'text', (c) => c.notNull())
  for (const event of HOOK_EVENTS) hooks = hooks.addColumn(`${event}_events`, boolean, (c) => c.notNull())
  await hooks
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('project_hooks_project').on('project_hooks').columns(['project_id', 'id']).execute()

  await table('push_rules')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('deny_delete_tag', boolean, (c) => c.notNull())
    .addColumn('member_check', boolean, (c) => c.notNull())
    .addColumn('prevent_secrets', boolean, (c) => c.notNull())
    .addColumn('commit_message_regex', 'text', (c) => c.notNull())
    .addColumn('commit_message_negative_regex', 'text', (c) => c.notNull())
    .addColumn('branch_name_regex', 'text', (c) => c.notNull())
    .addColumn('author_email_regex', 'text', (c) => c.notNull())
    .addColumn('file_name_regex', 'text', (c) => c.notNull())
    .addColumn('max_file_size', 'integer', (c) => c.notNull())
    .addColumn('commit_committer_check', boolean, (c) => c.notNull())
    .addColumn('reject_unsigned_commits', boolean, (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('push_rules_project_id_unique').unique().on('push_rules').column('project_id').execute()

  await table('ldap_group_links')
    .addColumn('group_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    .addColumn('provider', 'text', (c) => c.notNull())
    .addColumn('cn', 'text', (c) => c.notNull())
    .addColumn('group_access', 'integer', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('ldap_group_links_group_id_provider_cn_unique')
    .unique()
    .on('ldap_group_links')
    .columns(['group_id', 'provider', 'cn'])
    .execute()

  /** Converts the counts of migration 001 to the present form: on PostgreSQL a subject has many rows. */
  async function countAnew(db: Kysely<never>): Promise<void> {
    if (isSqlite(db)) return
    await sql`alter table changes drop constraint changes_pkey`.execute(db)
    await dropFacets(db, 'users')
    await countFacets(db, 'users', { state: 'text', external: 'boolean', ghost: 'boolean' })
    await dropChanges(db, 'users')
    await countChanges(db, 'users', ['state', 'external', 'ghost', 'username', 'name', 'email', 'created_at'])
    await dropChanges(db, 'users', 'user_activity')
    await countChanges(db, 'users', ['last_activity_on'], 'user_activity')
    await dropChanges(db, 'identities')
    await countChanges(db, 'identities', ['provider', 'extern_uid', 'user_id'])
    await dropChanges(db, 'access_tokens')
    await countChanges(db, 'access_tokens', ['revoked', 'expires_at', 'name', 'last_used_at'])
  }

  async function extendNamespaces(db: Kysely<never>): Promise<void> {
    const column = (name: string, type: string | typeof boolean, fallback?: typeof yes) =>
      db.schema
        .alterTable('namespaces')
        .addColumn(name, typeof type === 'string' ? sql.raw(type) : type, (c) =>
          fallback === undefined ? c : c.notNull().defaultTo(fallback),
        )
        .execute()
    await column('full_name', 'text', sql`''`)
    await column('description', 'text', sql`''`)
    await column('visibility', 'text', sql`'public'`)
    await column('deleting', boolean, no)
    await column('lfs_enabled', boolean, yes)
    await column('request_access_enabled', boolean, no)
    await column('share_with_group_lock', boolean, no)
    await column('membership_lock', boolean, no)
    await column('avatar_digest', 'text')
    await column('avatar_filename', 'text')
    await column('avatar_type', 'text')
    await column('shared_runners_minutes_limit', 'integer')
    await column('ldap_synced_at', 'text')
    await sql`update namespaces set full_name = name`.execute(db)

    await db.schema.createIndex('namespaces_parent').on('namespaces').column('parent_id').execute()
    await db.schema.createIndex('namespaces_avatar').on('namespaces').column('avatar_digest').execute()
    const order = (name: string, text: string) =>
      sql`create index ${sql.raw(name)} on namespaces (kind, ${sql.raw(text)}, id) where not deleting`.execute(db)
    await order('namespaces_by_name', binaryText(db, 'name'))
    await order('namespaces_by_path', binaryText(db, 'path'))
    await dropFacets(db, 'namespaces')
    await countFacets(db, 'namespaces', { kind: 'text', visibility: 'text', deleting: 'boolean' })
    await dropChanges(db, 'namespaces')
    await countChanges(db, 'namespaces', ['name', 'path', 'owner_id', 'parent_id', 'visibility', 'deleting'])
  }
}

const HOOK_EVENTS = [
  'push',
  'tag_push',
  'issues',
  'confidential_issues',
  'merge_requests',
  'note',
  'confidential_note',
  'job',
  'pipeline',
  'wiki_page',
  'deployment',
  'releases',
  'feature_flag',
  'emoji',
  'resource_access_token',
  'vulnerability',
]
