import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** Protected refs, releases, deploy keys and tokens, signatures, languages and LFS. */
export async function createRepository(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    create table protected_branches (
      id identity,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      allow_force_push boolean not null default false,
      code_owner_approval_required boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('protected_branches', 'project_id', 'name')};

    -- Who may: everybody with a level, or one user, group or deploy key.
    create table protected_branch_levels (
      id identity,
      rule_id bigint not null references protected_branches on delete cascade,
      ability text not null,
      access_level integer,
      user_id bigint references users on delete cascade,
      group_id bigint references namespaces on delete cascade,
      deploy_key_id bigint references keys on delete cascade
    );
    create index protected_branch_levels_rule on protected_branch_levels (rule_id, ability);
    create index protected_branch_levels_user_id on protected_branch_levels (user_id);
    create index protected_branch_levels_group_id on protected_branch_levels (group_id);
    create index protected_branch_levels_deploy_key_id on protected_branch_levels (deploy_key_id);

    create table protected_tags (
      id identity,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      allow_force_push boolean not null default false,
      code_owner_approval_required boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('protected_tags', 'project_id', 'name')};

    create table protected_tag_levels (
      id identity,
      rule_id bigint not null references protected_tags on delete cascade,
      ability text not null,
      access_level integer,
      user_id bigint references users on delete cascade,
      group_id bigint references namespaces on delete cascade,
      deploy_key_id bigint references keys on delete cascade
    );
    create index protected_tag_levels_rule on protected_tag_levels (rule_id, ability);
    create index protected_tag_levels_user_id on protected_tag_levels (user_id);
    create index protected_tag_levels_group_id on protected_tag_levels (group_id);
    create index protected_tag_levels_deploy_key_id on protected_tag_levels (deploy_key_id);

    create table releases (
      id identity,
      project_id bigint not null references projects on delete cascade,
      tag text not null,
      sha text,
      name text,
      description text,
      author_id bigint references users on delete set null,
      released_at timestamptz not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('releases', 'project_id', 'tag')};
    create index releases_released on releases (project_id, released_at, id);
    create index releases_author on releases (author_id);

    create table release_links (
      id identity,
      release_id bigint not null references releases on delete cascade,
      name text not null,
      url text not null,
      link_type text not null,
      direct_asset_path text,
      created_at timestamptz not null
    );
    ${unique('release_links', 'release_id', 'name')};
    ${unique('release_links', 'release_id', 'url')};

    create table release_milestones (
      release_id bigint not null references releases on delete cascade,
      milestone_id bigint not null references milestones on delete cascade,
      constraint release_milestones_unique primary key (release_id, milestone_id)
    );
    create index release_milestones_milestone on release_milestones (milestone_id);

    create table deploy_key_projects (
      id identity,
      key_id bigint not null references keys on delete cascade,
      project_id bigint not null references projects on delete cascade,
      can_push boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('deploy_key_projects', 'project_id', 'key_id')};
    create index deploy_key_projects_key on deploy_key_projects (key_id);

    create table deploy_tokens (
      id identity,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      name text not null,
      username text not null,
      digest text not null,
      scopes text not null,
      expires_at timestamptz,
      revoked boolean not null,
      creator_id bigint references users on delete set null,
      last_used_at timestamptz,
      -- For jobs.
      secret_sealed text,
      created_at timestamptz not null,
      constraint deploy_tokens_source check ((group_id is null) <> (project_id is null))
    );
    ${unique('deploy_tokens', 'digest')};
    create index deploy_tokens_project on deploy_tokens (project_id, id);
    create index deploy_tokens_group on deploy_tokens (group_id, id);
    create index deploy_tokens_creator on deploy_tokens (creator_id);

    -- Verification results of signed commits and tags. They stay when the key is deleted, so that a verified
    -- signature stays verified.
    create table signatures (
      id identity,
      project_id bigint not null references projects on delete cascade,
      -- The id of the commit or tag.
      object_id text not null,
      kind text not null,
      status text not null,
      -- The signer as the signature names it: a PGP key id or the fingerprint of an SSH key.
      signed_by text,
      gpg_key_id bigint references gpg_keys on delete set null,
      gpg_subkey_id bigint references gpg_subkeys on delete set null,
      key_id bigint references keys on delete set null,
      holder_name text,
      holder_email text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index signatures_object_unique on signatures (project_id, object_id);
    create index signatures_signed_by on signatures (signed_by);
    create index signatures_gpg_key_id on signatures (gpg_key_id);
    create index signatures_gpg_subkey_id on signatures (gpg_subkey_id);
    create index signatures_key_id on signatures (key_id);

    -- Written before refs move, and deleted with the event of the change. A row that remains was interrupted in
    -- between.
    create table pending_changes (
      id identity,
      project_id bigint not null references projects on delete cascade,
      wiki boolean not null,
      user_id bigint references users on delete set null,
      updates text not null,
      options text not null,
      -- Made by a merge request, which closes issues itself: the change of a merge is no push.
      merging boolean not null default false,
      -- The page that a wiki change is about.
      page text,
      -- The tag of the process that makes the change.
      holder text,
      created_at timestamptz not null
    );
    create index pending_changes_project on pending_changes (project_id, id);
    create index pending_changes_user on pending_changes (user_id);

    create table project_languages (
      project_id bigint not null references projects on delete cascade,
      name text not null,
      -- Percentage of the whole.
      share real not null,
      constraint project_languages_unique primary key (project_id, name)
    );
    create index project_languages_name on project_languages (lower(name), project_id);
  `
  await countChanges(db, 'project_languages', ['name'])

  await define`
    -- The tree that the languages were counted in.
    create table project_language_trees (
      project_id bigint primary key references projects on delete cascade,
      tree text not null
    );

    -- Stored once, named by the digest of their content, and linked to each project that has them.
    create table lfs_objects (
      id identity,
      oid text not null,
      size bigint not null,
      created_at timestamptz not null
    );
    ${unique('lfs_objects', 'oid')};

    create table lfs_object_projects (
      lfs_object_id bigint not null references lfs_objects on delete cascade,
      project_id bigint not null references projects on delete cascade,
      constraint lfs_object_projects_unique primary key (project_id, lfs_object_id)
    );
    create index lfs_object_projects_object on lfs_object_projects (lfs_object_id);

    create table lfs_locks (
      id identity,
      project_id bigint not null references projects on delete cascade,
      path text not null,
      user_id bigint not null references users on delete cascade,
      locked_at timestamptz not null
    );
    ${unique('lfs_locks', 'project_id', 'path')};
    create index lfs_locks_user on lfs_locks (user_id);
  `
}
