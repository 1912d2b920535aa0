import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countFacets, logChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'
import { raiseVersions } from '../helpers/versions.ts'

/** Runners, triggers, schedules, pipelines and variables. */
export async function createPipelines(db: Kysely<never>): Promise<void> {
  await createRunners(db)
  await createTriggersAndSchedules(db)
  await createPipelineTables(db)
  await createVariables(db)
}

async function createRunners(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    create table runners (
      id identity,
      -- "instance_type", "group_type" or "project_type".
      runner_type text not null,
      token_digest text not null,
      token_sealed text not null,
      token_expires_at timestamptz,
      description text,
      maintenance_note text,
      active boolean not null default true,
      run_untagged boolean not null default true,
      locked boolean not null default false,
      -- "not_protected" or "ref_protected".
      access_level text not null default 'not_protected',
      -- Names in order, as JSON.
      tags text not null default '[]',
      -- Seconds.
      maximum_timeout integer,
      creator_id bigint references users on delete set null,
      -- As the runner manager reported last.
      name text,
      version_name text,
      revision text,
      platform text,
      architecture text,
      ip_address text,
      contacted_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('runners', 'token_digest')};
    create index runners_runner_type_id on runners (runner_type, id);
    create index runners_creator_id on runners (creator_id);
  `
  await raiseVersions(db, 'runners')

  await define`
    create table runner_projects (
      runner_id bigint not null references runners on delete cascade,
      project_id bigint not null references projects on delete cascade,
      -- The order in which a runner was assigned to projects.
      place integer not null default 0,
      constraint runner_projects_unique primary key (runner_id, project_id)
    );
    create index runner_projects_project_id on runner_projects (project_id);

    create table runner_groups (
      runner_id bigint not null references runners on delete cascade,
      group_id bigint not null references namespaces on delete cascade,
      constraint runner_groups_unique primary key (runner_id, group_id)
    );
    create index runner_groups_group_id on runner_groups (group_id);

    create table runner_managers (
      id identity,
      runner_id bigint not null references runners on delete cascade,
      system_id text not null,
      version_name text,
      revision text,
      platform text,
      architecture text,
      executor text,
      ip_address text,
      -- As JSON.
      features text,
      contacted_at timestamptz,
      created_at timestamptz not null
    );
    ${unique('runner_managers', 'runner_id', 'system_id')};

    -- Registration tokens for runners of a group, or of the instance. The tokens of projects are in "projects".
    create table runner_registration_tokens (
      id identity,
      group_id bigint references namespaces on delete cascade,
      token_digest text not null,
      token_sealed text not null
    );
    ${unique('runner_registration_tokens', 'token_digest')};
    ${unique('runner_registration_tokens', 'group_id')} where group_id is not null;
  `
}

async function createTriggersAndSchedules(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table pipeline_triggers (
      id identity,
      project_id bigint not null references projects on delete cascade,
      owner_id bigint references users on delete set null,
      token_digest text not null,
      token_sealed text not null,
      description text not null,
      expires_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('pipeline_triggers', 'token_digest')};
    create index pipeline_triggers_project_id_id on pipeline_triggers (project_id, id);
    create index pipeline_triggers_owner_id on pipeline_triggers (owner_id);

    create table pipeline_schedules (
      id identity,
      project_id bigint not null references projects on delete cascade,
      owner_id bigint references users on delete set null,
      description text not null,
      ref text not null,
      cron text not null,
      cron_timezone text not null,
      active boolean not null default true,
      next_run_at timestamptz,
      -- By name, as JSON; null: none.
      inputs text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index pipeline_schedules_project_id_id on pipeline_schedules (project_id, id);
    create index pipeline_schedules_owner_id on pipeline_schedules (owner_id);
    create index pipeline_schedules_due on pipeline_schedules (next_run_at) where active;

    create table pipeline_schedule_variables (
      id identity,
      schedule_id bigint not null references pipeline_schedules on delete cascade,
      key text not null,
      value_sealed text not null,
      variable_type text not null default 'env_var',
      raw boolean not null
    );
    ${unique('pipeline_schedule_variables', 'schedule_id', 'key')};
  `
}

async function createPipelineTables(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table pipelines (
      id identity,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      source text not null,
      status text not null,
      -- The short name of a branch or a tag, or "refs/merge-requests/1/head".
      ref text not null,
      tag boolean not null default false,
      sha text not null,
      before_sha text not null,
      -- Whether its ref was protected when the pipeline was created.
      protected boolean not null default false,
      name text,
      yaml_errors text,
      user_id bigint references users on delete set null,
      merge_request_id bigint references merge_requests on delete set null,
      trigger_id bigint references pipeline_triggers on delete set null,
      schedule_id bigint references pipeline_schedules on delete set null,
      -- The job of another pipeline that created it, in "ci_jobs".
      bridge_id bigint,
      auto_canceled_by_id bigint,
      -- For a merge request pipeline: variables about the merge request, as JSON.
      merge_request_variables text,
      -- From the CI file: "conservative", "interruptible" or "none"; "none" or "all".
      on_new_commit text not null default 'conservative',
      on_job_failure text not null default 'none',
      coverage double precision,
      -- In seconds, once it has finished.
      duration integer,
      started_at timestamptz,
      finished_at timestamptz,
      -- For a pipeline of a merge result: the commits it is made of.
      source_sha text,
      target_sha text,
      -- For a pipeline that a job created: the root pipeline, so that its descendants can be counted.
      root_id bigint,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('pipelines', 'project_id', 'iid')};
    create index pipelines_project_id_id on pipelines (project_id, id);
    create index pipelines_project_id_status_id on pipelines (project_id, status, id);
    create index pipelines_project_id_ref_id on pipelines (project_id, ref, id);
    create index pipelines_project_id_source_id on pipelines (project_id, source, id);
    create index pipelines_project_id_sha_id on pipelines (project_id, sha, id);
    create index pipelines_project_id_user_id_id on pipelines (project_id, user_id, id);
    create index pipelines_project_id_updated_at_id on pipelines (project_id, updated_at, id);
    create index pipelines_user_id_id on pipelines (user_id, id);
    create index pipelines_merge_request_id_id on pipelines (merge_request_id, id);
    create index pipelines_trigger_id_id on pipelines (trigger_id, id);
    create index pipelines_schedule_id_id on pipelines (schedule_id, id);
    create index pipelines_bridge_id_id on pipelines (bridge_id, id);
    create index pipelines_left on pipelines (created_at) where status = 'created';
    create index pipelines_root on pipelines (root_id);
  `
  await raiseVersions(db, 'pipelines')
  await countFacets(db, 'pipelines', { project_id: 'integer', status: 'text' })
  if (!isSqlite(db)) await define`create index pipelines_facets_project_id on pipelines_facets (project_id);`
  await logChanges(db, 'pipelines', {
    scope: 'project_id',
    columns: ['status', 'ref', 'sha', 'source', 'user_id', 'name', 'updated_at'],
  })

  await define`
    create table pipeline_variables (
      id identity,
      pipeline_id bigint not null references pipelines on delete cascade,
      key text not null,
      value_sealed text not null,
      variable_type text not null default 'env_var',
      raw boolean not null default false
    );
    ${unique('pipeline_variables', 'pipeline_id', 'key')};

    -- Marks which pipelines were created, so that they are not created again, even if they are deleted since.
    create table pipeline_marks (
      cause text primary key,
      made_at timestamptz not null
    );
    create index pipeline_marks_made_at on pipeline_marks (made_at);
  `
}

async function createVariables(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table ci_variables (
      id identity,
      -- Of a project, of a group, or, with neither, of the instance.
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      key text not null,
      value_sealed text not null,
      -- "env_var" or "file".
      variable_type text not null default 'env_var',
      protected boolean not null default false,
      masked boolean not null default false,
      hidden boolean not null default false,
      raw boolean not null default false,
      environment_scope text not null default '*',
      description text
    );
    create unique index ci_variables_project_unique on ci_variables (project_id, key, environment_scope)
      where project_id is not null;
    create unique index ci_variables_group_unique on ci_variables (group_id, key, environment_scope)
      where group_id is not null;
    create unique index ci_variables_instance_unique on ci_variables (key, environment_scope)
      where project_id is null and group_id is null;

    create table job_token_allowlist (
      id identity,
      project_id bigint not null references projects on delete cascade,
      allowed_project_id bigint references projects on delete cascade,
      allowed_group_id bigint references namespaces on delete cascade,
      created_at timestamptz not null
    );
    ${unique('job_token_allowlist', 'project_id', 'allowed_project_id')};
    ${unique('job_token_allowlist', 'project_id', 'allowed_group_id')};
    create index job_token_allowlist_allowed_project_id on job_token_allowlist (allowed_project_id);
    create index job_token_allowlist_allowed_group_id on job_token_allowlist (allowed_group_id);

    -- The shared runner usage of a root namespace, by month.
    create table ci_minutes (
      namespace_id bigint not null references namespaces on delete cascade,
      -- "2026-11".
      month text not null,
      seconds double precision not null default 0,
      constraint ci_minutes_unique primary key (namespace_id, month)
    );
  `
}
