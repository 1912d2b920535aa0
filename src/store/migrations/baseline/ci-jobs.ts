import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges, countFacets, logChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'
import { triggerAfter } from '../helpers/triggers.ts'
import { raiseVersions } from '../helpers/versions.ts'

/** Jobs, the queue for runners, logs and artifacts, environments and deployments. */
export async function createJobs(db: Kysely<never>): Promise<void> {
  await createJobTables(db)
  await createRuns(db)
  await queueJobs(db)
  await createArtifacts(db)
  await followRemovals(db)
  await createDeployments(db)
}

async function createJobTables(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    create table environments (
      id identity,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      slug text not null,
      external_url text,
      description text,
      -- "available", "stopping" or "stopped".
      state text not null default 'available',
      tier text not null default 'other',
      auto_stop_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('environments', 'project_id', 'name')};
    ${unique('environments', 'project_id', 'slug')};
    create index environments_due on environments (auto_stop_at) where auto_stop_at is not null;
    create index environments_name on environments (name, project_id);
  `
  await countChanges(db, 'environments', ['name'], 'environments', { scope: 'project_id' })

  await define`
    -- Jobs with the same key in a project run one at a time.
    create table resource_groups (
      id identity,
      project_id bigint not null references projects on delete cascade,
      key text not null,
      process_mode text not null default 'unordered',
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('resource_groups', 'project_id', 'key')};

    create table ci_jobs (
      id identity,
      -- "job"; "bridge": creates another pipeline; "external": a commit status reported by a tool.
      kind text not null default 'job',
      project_id bigint not null references projects on delete cascade,
      pipeline_id bigint not null references pipelines on delete cascade,
      name text not null,
      stage text not null,
      stage_position integer not null,
      status text not null,
      -- "on_success", "on_failure", "always", "manual" or "delayed".
      "when" text not null default 'on_success',
      allow_failure boolean not null default false,
      -- Replaced by a newer job of the same name.
      retried boolean not null default false,
      interruptible boolean not null default false,
      -- Names of the jobs it waits for, as JSON; null: all jobs of earlier stages.
      needs text,
      -- Names in order, as JSON.
      tags text not null default '[]',
      -- The rest of its configuration, as JSON.
      options text,
      ref text not null,
      tag boolean not null default false,
      sha text not null,
      protected boolean not null default false,
      user_id bigint references users on delete set null,
      runner_id bigint references runners on delete set null,
      manager_id bigint references runner_managers on delete set null,
      environment_id bigint references environments on delete set null,
      resource_group_id bigint references resource_groups on delete set null,
      token_digest text,
      token_sealed text,
      -- Timeout in seconds, known once the job has a runner.
      timeout integer,
      failure_reason text,
      exit_code integer,
      coverage double precision,
      -- Bytes of its log so far: in "ci_trace_chunks" while it runs, then in a blob.
      trace_size bigint not null default 0,
      trace_digest text,
      artifacts_expire_at timestamptz,
      erased_at timestamptz,
      erased_by_id bigint references users on delete set null,
      -- For external jobs.
      target_url text,
      description text,
      -- For delayed jobs: when they start.
      scheduled_at timestamptz,
      queued_at timestamptz,
      started_at timestamptz,
      finished_at timestamptz,
      -- When its runner last sent a request for it.
      contacted_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    create index ci_jobs_pipeline_id_stage_position_id on ci_jobs (pipeline_id, stage_position, id);
    create index ci_jobs_project_id_id on ci_jobs (project_id, id);
    create index ci_jobs_project_id_status_id on ci_jobs (project_id, status, id);
    create index ci_jobs_project_id_sha_id on ci_jobs (project_id, sha, id);
    create index ci_jobs_user_id on ci_jobs (user_id);
    ${unique('ci_jobs', 'token_digest')};
    create index ci_jobs_running on ci_jobs (contacted_at) where status in ('running', 'canceling') and kind = 'job';
    create index ci_jobs_scheduled on ci_jobs (scheduled_at) where status = 'scheduled';
    create index ci_jobs_resources on ci_jobs (resource_group_id, id) where resource_group_id is not null;
    -- Most jobs have no environment and are never erased, and a pending job has no runner: indexes without these rows
    -- are not written when a job is created.
    create index ci_jobs_runner_id_id on ci_jobs (runner_id, id) where runner_id is not null;
    create index ci_jobs_runner_id_status on ci_jobs (runner_id, status, id) where runner_id is not null;
    create index ci_jobs_manager_id on ci_jobs (manager_id) where manager_id is not null;
    create index ci_jobs_environment_id on ci_jobs (environment_id) where environment_id is not null;
    create index ci_jobs_erased_by_id on ci_jobs (erased_by_id) where erased_by_id is not null;
    create index ci_jobs_trace_digest on ci_jobs (trace_digest) where trace_digest is not null;
    create index ci_jobs_retried on ci_jobs (pipeline_id, name) where retried;
  `
  await raiseVersions(db, 'ci_jobs')
  await countFacets(db, 'ci_jobs', { project_id: 'integer', kind: 'text', status: 'text' })
  if (!isSqlite(db)) await define`create index ci_jobs_facets_project_id on ci_jobs_facets (project_id);`
  await logChanges(db, 'ci_jobs', { scope: 'project_id', columns: ['status', 'kind'] })
}

async function createRuns(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- Pending jobs in buckets: the jobs of a bucket have the same project, tags and protection, so a runner that can
    -- take one can take all. Maintained by triggers, whatever statement changes a job.
    create table ci_queue (
      id identity,
      job_id bigint not null references ci_jobs on delete cascade,
      project_id bigint not null,
      protected boolean not null,
      tags text not null,
      -- Begins with the project id and a blank; compared byte by byte.
      lane text collate "C" not null
    );
    ${unique('ci_queue', 'job_id')};
    create index ci_queue_lane on ci_queue (lane, job_id);

    -- State of a job only while a runner has it.
    create table ci_runs (
      job_id bigint primary key references ci_jobs on delete cascade,
      -- Values that must be masked in its log, as JSON.
      masks_sealed text not null,
      -- Checksum of the log as received.
      trace_crc bigint not null default 0,
      -- How often the log was sent from the start again.
      trace_resets integer not null default 0,
      -- When the job times out.
      deadline_at timestamptz,
      -- The project, if the runner is shared: counts the jobs that a project has on shared runners.
      shared_project_id bigint,
      -- The process that hands the job to its runner, until its answer is sent.
      holder text
    );
    create index ci_runs_deadline_at on ci_runs (deadline_at);
    create index ci_runs_shared_project_id on ci_runs (shared_project_id) where shared_project_id is not null;

    -- Variables that jobs pass to later jobs (dotenv reports).
    create table ci_job_variables (
      id identity,
      job_id bigint not null references ci_jobs on delete cascade,
      key text not null,
      value_sealed text not null
    );
    ${unique('ci_job_variables', 'job_id', 'key')};

    -- The log of a job that runs.
    create table ci_trace_chunks (
      job_id bigint not null references ci_jobs on delete cascade,
      -- Its offset in the log.
      start bigint not null,
      content bytea not null,
      constraint ci_trace_chunks_unique primary key (job_id, start)
    );
  `
}

async function createArtifacts(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table ci_artifacts (
      id identity,
      job_id bigint not null references ci_jobs on delete cascade,
      project_id bigint not null references projects on delete cascade,
      -- "archive", "junit", "dotenv" …; "zip", "gzip" or "raw".
      file_type text not null,
      file_format text not null,
      filename text not null,
      size bigint not null,
      digest text not null,
      expire_at timestamptz,
      -- Kept after its expiry: it belongs to the newest successful pipeline of its ref.
      locked boolean not null default false,
      created_at timestamptz not null
    );
    ${unique('ci_artifacts', 'job_id', 'file_type')};
    create index ci_artifacts_project_id on ci_artifacts (project_id);
    create index ci_artifacts_digest on ci_artifacts (digest);
    create index ci_artifacts_locked on ci_artifacts (project_id) where locked;
    create index ci_artifacts_due on ci_artifacts (expire_at) where expire_at is not null and not locked;
  `
  await countFacets(db, 'ci_artifacts', { project_id: 'integer' }, 'size')
  if (!isSqlite(db)) await define`create index ci_artifacts_facets_project on ci_artifacts_facets (project_id);`

  await define`
    -- The blobs of deleted rows, by whatever statement they were deleted: a job checks later whether another row has
    -- them.
    create table ci_left_blobs (
      id identity,
      content text not null,
      -- When the entry was first seen; the blob is kept for some time after that.
      left_at timestamptz
    );
  `
}

async function createDeployments(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table deployments (
      id identity,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      environment_id bigint not null references environments on delete cascade,
      job_id bigint references ci_jobs on delete set null,
      user_id bigint references users on delete set null,
      ref text not null,
      tag boolean not null default false,
      sha text not null,
      -- "created", "running", "success", "failed", "canceled", "blocked" or "skipped".
      status text not null,
      -- The name of the job that stops the environment.
      on_stop text,
      finished_at timestamptz,
      -- Whether "deployment_merge_requests" has its merge requests.
      linked boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('deployments', 'project_id', 'iid')};
    create index deployments_project_id_created_at_id on deployments (project_id, created_at, id);
    create index deployments_project_id_updated_at_id on deployments (project_id, updated_at, id);
    create index deployments_project_id_ref_id on deployments (project_id, ref, id);
    create index deployments_project_id_status_id on deployments (project_id, status, id);
    create index deployments_environment_id_id on deployments (environment_id, id);
    create index deployments_job_id on deployments (job_id);
    create index deployments_user_id on deployments (user_id);
    create index deployments_by_project_id_id on deployments (project_id, id);
    create index deployments_by_project_id_finished_at_id on deployments (project_id, finished_at, id);
    create index deployments_by_environment_id_status_id on deployments (environment_id, status, id);
    create index deployments_unlinked on deployments (id) where status = 'success' and not linked;
  `
  await countFacets(db, 'deployments', { project_id: 'integer', status: 'text' })
  if (!isSqlite(db)) await define`create index deployments_facets_project_id on deployments_facets (project_id);`
  await logChanges(db, 'deployments', {
    scope: 'project_id',
    columns: ['status', 'environment_id', 'updated_at', 'finished_at'],
  })
}

/** Maintains `ci_queue`. */
async function queueJobs(db: Kysely<never>): Promise<void> {
  const isWaiting = (row: string) => `${row}.status = 'pending' and ${row}.kind = 'job'`
  // An index takes no longer text: a job with a longer list of tags has its own bucket.
  const lane = `new.project_id || ' ' || case when new.protected then 'p' else '' end ||
    case when length(new.tags) <= 500 then new.tags else cast(new.id as text) end`
  const add = `insert into ci_queue (job_id, project_id, protected, tags, lane)
    select new.id, new.project_id, new.protected, new.tags, ${lane};`
  await triggerAfter(db, 'insert on ci_jobs', { name: 'ci_queue_i', when: isWaiting('new'), body: add })
  await triggerAfter(db, 'update of status on ci_jobs', {
    name: 'ci_queue_in',
    when: `old.status <> 'pending' and ${isWaiting('new')}`,
    body: add,
  })
  await triggerAfter(db, 'update of status on ci_jobs', {
    name: 'ci_queue_out',
    when: `${isWaiting('old')} and new.status <> 'pending'`,
    body: 'delete from ci_queue where job_id = old.id;',
  })
}

/** Fills `ci_left_blobs`. */
async function followRemovals(db: Kysely<never>): Promise<void> {
  const leave = (content: string) => `insert into ci_left_blobs (content) values (${content});`
  await triggerAfter(db, 'delete on ci_artifacts', { name: 'ci_artifacts_left_1', body: leave('old.digest') })
  await triggerAfter(db, 'delete on ci_jobs', {
    name: 'ci_jobs_left_2',
    when: 'old.trace_digest is not null',
    body: leave('old.trace_digest'),
  })
  await triggerAfter(db, 'update of trace_digest on ci_jobs', {
    name: 'ci_jobs_left_3',
    when: 'old.trace_digest is not null and new.trace_digest is null',
    body: leave('old.trace_digest'),
  })
}
