import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges, countFacets } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique, uniqueName } from '../helpers/names.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { sqliteTrigger } from '../helpers/triggers.ts'
import { raiseVersions } from '../helpers/versions.ts'

/** Projects, and what has no meaning without one. */
export async function createProjects(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- Repositories with the objects that forks share.
    create table pools (
      id identity,
      disk_path text not null,
      repository_storage text not null,
      created_at timestamptz not null
    );

    create table projects (
      id identity,
      namespace_id bigint not null references namespaces,
      name text not null,
      path text not null,
      description text,
      visibility text not null,
      archived boolean not null,
      deleting boolean not null,
      creator_id bigint references users on delete set null,
      forked_from_id bigint references projects on delete set null,
      -- The path of the repository in its storage. It never changes, so a rename moves no files.
      disk_path text not null,
      repository_storage text not null,
      default_branch text not null,
      empty_repo boolean not null,
      readme_path text,
      repository_access_level integer not null,
      issues_access_level integer not null,
      merge_requests_access_level integer not null,
      builds_access_level integer not null,
      wiki_access_level integer not null,
      snippets_access_level integer not null,
      forking_access_level integer not null,
      container_registry_access_level integer not null,
      resolve_outdated_diff_discussions boolean not null,
      shared_runners_enabled boolean not null,
      public_jobs boolean not null,
      only_allow_merge_if_pipeline_succeeds boolean not null,
      only_allow_merge_if_all_discussions_are_resolved boolean not null,
      printing_merge_requests_link_enabled boolean not null,
      lfs_enabled boolean not null,
      request_access_enabled boolean not null,
      remove_source_branch_after_merge boolean not null,
      merge_method text not null,
      squash_option text not null,
      approvals_before_merge integer not null,
      ci_config_path text,
      avatar_digest text,
      avatar_filename text,
      avatar_type text,
      runners_token_digest text not null,
      runners_token_sealed text not null,
      -- Without the credentials, which are encrypted in the next column.
      import_url text,
      import_credentials_sealed text,
      import_status text not null,
      import_error text,
      import_progress integer,
      star_count integer not null default 0,
      forks_count integer not null default 0,
      -- Unused: counted by "issues_facets".
      open_issues_count integer not null default 0,
      commit_count bigint not null default 0,
      repository_size bigint not null default 0,
      lfs_objects_size bigint not null default 0,
      -- Unused: counted by "ci_artifacts_facets".
      job_artifacts_size bigint not null default 0,
      housekeeping_at timestamptz,
      last_activity_at timestamptz not null,
      pool_id bigint references pools,
      pushes_since_housekeeping integer not null default 0,
      -- Shown if a project has no avatar.
      logo_path text,
      autoclose_referenced_issues boolean not null default true,
      allow_merge_on_skipped_pipeline boolean not null default false,
      suggestion_commit_message text,
      packages_enabled boolean not null default true,
      pages_access_level integer not null default 20,
      emails_disabled boolean not null default false,
      build_timeout integer not null default 3600,
      build_git_strategy text not null default 'fetch',
      auto_cancel_pending_pipelines text not null default 'enabled',
      auto_devops_enabled boolean not null default false,
      auto_devops_deploy_strategy text not null default 'continuous',
      container_expiration_policy text,
      -- Null: the whole history.
      ci_default_git_depth integer default 20,
      -- Null: the default template.
      merge_commit_template text,
      squash_commit_template text,
      -- Whether only the projects and groups of "job_token_allowlist" may access the project with their job tokens.
      job_token_scope_enabled boolean not null default false,
      merge_pipelines_enabled boolean not null default false,
      keep_latest_artifact boolean not null default true,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    create unique index ${uniqueName('projects', ['namespace_id', 'path'])} on projects (namespace_id, lower(path));
    ${unique('projects', 'namespace_id', 'name')};
    ${unique('projects', 'runners_token_digest')};
    create index projects_creator on projects (creator_id);
    create index projects_forked_from on projects (forked_from_id);
    create index projects_avatar on projects (avatar_digest);
    -- Every list is of active or of archived projects, in one of these orders; ids follow the order of creation.
    create index projects_by_visibility on projects (archived, visibility, id) where not deleting;
    create index projects_by_name on projects (archived, lower(name) collate "C", id) where not deleting;
    create index projects_by_path on projects (archived, lower(path) collate "C", id) where not deleting;
    create index projects_by_update on projects (archived, updated_at, id) where not deleting;
    create index projects_by_activity on projects (archived, last_activity_at, id) where not deleting;
    create index projects_pool on projects (pool_id);
    create index projects_by_id on projects (archived, id, visibility, deleting) where not deleting;
    create index projects_imported on projects (creator_id, id) where import_url is not null;
    create index projects_storage on projects (repository_storage, id);

    -- The project that the pool gets its objects from; the pool's objects stay when the project is deleted.
    alter table pools add column source_id bigint references projects on delete set null;
    create index pools_source on pools (source_id);
  `
  await createSubstringIndex(db, 'projects', ['name', 'path'])
  await countFacets(db, 'projects', {
    visibility: 'text',
    archived: 'boolean',
    deleting: 'boolean',
    issues_access_level: 'integer',
    merge_requests_access_level: 'integer',
  })
  await countChanges(db, 'projects', ['last_activity_at'], 'project_activity')
  await raiseVersions(db, 'projects')
  await countChanges(db, 'projects', [
    'visibility',
    'archived',
    'deleting',
    'issues_access_level',
    'merge_requests_access_level',
    'repository_access_level',
    'namespace_id',
    'name',
    'path',
    'forked_from_id',
  ])
  await countChanges(db, 'projects', ['snippets_access_level'], 'project_snippets')
  await countChanges(db, 'projects', ['creator_id', 'import_url', 'repository_storage'], 'project_origins')
  await countChanges(db, 'projects', ['updated_at'], 'project_updates')
  await countChanges(db, 'projects', ['builds_access_level'], 'project_builds')

  await define`
    -- Old paths of renamed and moved records, for the web and for git.
    create table redirects (
      id identity,
      path text not null,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      created_at timestamptz not null
    );
    create unique index ${uniqueName('redirects', ['path'])} on redirects (lower(path));
    create index redirects_namespace on redirects (namespace_id);
    create index redirects_project on redirects (project_id);

    create table topics (
      id identity,
      name text not null,
      title text,
      description text,
      -- Described by an administrator, and so listed even if no project has it.
      curated boolean not null default false,
      avatar_digest text,
      avatar_filename text,
      avatar_type text,
      created_at timestamptz not null
    );
    create unique index ${uniqueName('topics', ['name'])} on topics (lower(name));
    create index topics_avatar on topics (avatar_digest);

    create table project_topics (
      project_id bigint not null references projects on delete cascade,
      name text not null,
      position integer not null,
      constraint project_topics_unique primary key (project_id, name)
    );
    create index project_topics_name on project_topics (lower(name), project_id);
  `
  await countChanges(db, 'project_topics', ['name'])
  await raiseVersionsByTopics(db)

  await define`
    create table stars (
      user_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      created_at timestamptz not null,
      constraint stars_unique primary key (user_id, project_id)
    );
    create index stars_project on stars (project_id, user_id);
  `
  await countChanges(db, 'stars', ['user_id'])

  await define`
    create table project_shares (
      id identity,
      project_id bigint not null references projects on delete cascade,
      group_id bigint not null references namespaces on delete cascade,
      group_access integer not null,
      expires_at date,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('project_shares', 'project_id', 'group_id')};
    create index project_shares_group on project_shares (group_id);
    create index project_shares_expiry on project_shares (expires_at);
  `
  await countChanges(db, 'project_shares', ['group_id'])

  await define`
    create table uploads (
      id identity,
      project_id bigint not null references projects on delete cascade,
      user_id bigint references users on delete set null,
      secret text not null,
      filename text not null,
      type text not null,
      size bigint not null,
      digest text not null,
      created_at timestamptz not null
    );
    ${unique('uploads', 'project_id', 'secret')};
    create index uploads_digest on uploads (digest);
    create index uploads_user on uploads (user_id);

    create table push_rules (
      id identity,
      project_id bigint not null references projects on delete cascade,
      deny_delete_tag boolean not null,
      member_check boolean not null,
      prevent_secrets boolean not null,
      commit_message_regex text not null,
      commit_message_negative_regex text not null,
      branch_name_regex text not null,
      author_email_regex text not null,
      file_name_regex text not null,
      max_file_size integer not null,
      commit_committer_check boolean not null,
      reject_unsigned_commits boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('push_rules', 'project_id')};
  `
}

/** Topics are part of a project's state: changing them increments its version. */
async function raiseVersionsByTopics(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) {
    const raise = (row: string) => `update projects set version = version + 1 where id = ${row}.project_id;`
    await sqliteTrigger(db, 'project_topics_version_insert', 'after insert on project_topics', raise('new'))
    await sqliteTrigger(db, 'project_topics_version_delete', 'after delete on project_topics', raise('old'))
    await sqliteTrigger(db, 'project_topics_version_update', 'after update on project_topics', raise('new'))
    return
  }
  await sql`create function raise_version_of_project() returns trigger language plpgsql as $$ begin
    update projects set version = version where id = coalesce(new.project_id, old.project_id);
    return null;
  end $$`.execute(db)
  await sql`create trigger project_topics_version after insert or delete or update on project_topics
    for each row execute function raise_version_of_project()`.execute(db)
}
