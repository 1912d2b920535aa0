import { sql, type Kysely } from 'kysely'
import { countFacets, logChanges } from '../helpers/counts.ts'
import { columnTypes, isSqlite } from '../helpers/columns.ts'
import { keepVersions } from '../helpers/versions.ts'

export async function up(db: Kysely<never>): Promise<void> {
  await createRunners(db)
  await createTriggersAndSchedules(db)
  await createPipelines(db)
  await createEnvironments(db)
  await createJobs(db)
  await createArtifacts(db)
  await createVariables(db)
  await createJobTokenScope(db)
  await createMinutes(db)
}

const index = (db: Kysely<never>, on: string, ...columns: string[]) =>
  db.schema
    .createIndex(`${on}_${columns.join('_')}`)
    .on(on)
    .columns(columns)
    .execute()

const unique = (db: Kysely<never>, on: string, ...columns: string[]) =>
  db.schema
    .createIndex(`${on}_${columns.join('_')}_unique`)
    .unique()
    .on(on)
    .columns(columns)
    .execute()

async function createRunners(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, yes, no } = columnTypes(db)
  await withId(db.schema.createTable('runners'))
    /** `instance_type`, `group_type` or `project_type`. */
    .addColumn('runner_type', 'text', (c) => c.notNull())
    .addColumn('token_digest', 'text', (c) => c.notNull())
    .addColumn('token_sealed', 'text', (c) => c.notNull())
    .addColumn('token_expires_at', timestamp)
    .addColumn('description', 'text')
    .addColumn('maintenance_note', 'text')
    .addColumn('active', boolean, (c) => c.notNull().defaultTo(yes))
    .addColumn('run_untagged', boolean, (c) => c.notNull().defaultTo(yes))
    .addColumn('locked', boolean, (c) => c.notNull().defaultTo(no))
    /** `not_protected` or `ref_protected`. */
    .addColumn('access_level', 'text', (c) => c.notNull().defaultTo('not_protected'))
    /** Names in order, as JSON. */
    .addColumn('tags', 'text', (c) => c.notNull().defaultTo('[]'))
    /** Seconds. */
    .addColumn('maximum_timeout', 'integer')
    .addColumn('creator_id', ref, (c) => c.references('users.id').onDelete('set null'))
    /** As the runner manager reported last. */
    .addColumn('name', 'text')
    .addColumn('version_name', 'text')
    .addColumn('revision', 'text')
    .addColumn('platform', 'text')
    .addColumn('architecture', 'text')
    .addColumn('ip_address', 'text')
    .addColumn('contacted_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await keepVersions(db, 'runners')
  await unique(db, 'runners', 'token_digest')
  await index(db, 'runners', 'runner_type', 'id')
  await index(db, 'runners', 'creator_id')
  const link = (name: string, column: string, to: string) =>
    db.schema
      .createTable(name)
      .addColumn('runner_id', ref, (c) => c.notNull().references('runners.id').onDelete('cascade'))
      .addColumn(column, ref, (c) => c.notNull().references(to).onDelete('cascade'))
      .addPrimaryKeyConstraint(`${name}_unique`, ['runner_id', column] as never[])
      .execute()
  await link('runner_projects', 'project_id', 'projects.id')
  await index(db, 'runner_projects', 'project_id')
  await link('runner_groups', 'group_id', 'namespaces.id')
  await index(db, 'runner_groups', 'group_id')
  await withId(db.schema.createTable('runner_managers'))
    .addColumn('runner_id', ref, (c) => c.notNull().references('runners.id').onDelete('cascade'))
    .addColumn('system_id', 'text', (c) => c.notNull())
    .addColumn('version_name', 'text')
    .addColumn('revision', 'text')
    .addColumn('platform', 'text')
    .addColumn('architecture', 'text')
    .addColumn('executor', 'text')
    .addColumn('ip_address', 'text')
    /** As JSON. */
    .addColumn('features', 'text')
    .addColumn('contacted_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'runner_managers', 'runner_id', 'system_id')
}

async function createTriggersAndSchedules(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, yes } = columnTypes(db)
  await withId(db.schema.createTable('pipeline_triggers'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('owner_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('token_digest', 'text', (c) => c.notNull())
    .addColumn('token_sealed', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('expires_at', timestamp)
    .addColumn('last_used_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'pipeline_triggers', 'token_digest')
  await index(db, 'pipeline_triggers', 'project_id', 'id')
  await index(db, 'pipeline_triggers', 'owner_id')

  await withId(db.schema.createTable('pipeline_schedules'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('owner_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('ref', 'text', (c) => c.notNull())
    .addColumn('cron', 'text', (c) => c.notNull())
    .addColumn('cron_timezone', 'text', (c) => c.notNull())
    .addColumn('active', boolean, (c) => c.notNull().defaultTo(yes))
    .addColumn('next_run_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await index(db, 'pipeline_schedules', 'project_id', 'id')
  await index(db, 'pipeline_schedules', 'owner_id')
  await sql`create index pipeline_schedules_due on pipeline_schedules (next_run_at) where active`.execute(db)
  await withId(db.schema.createTable('pipeline_schedule_variables'))
    .addColumn('schedule_id', ref, (c) => c.notNull().references('pipeline_schedules.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value_sealed', 'text', (c) => c.notNull())
    .addColumn('variable_type', 'text', (c) => c.notNull().defaultTo('env_var'))
    .addColumn('raw', boolean, (c) => c.notNull())
    .execute()
  await unique(db, 'pipeline_schedule_variables', 'schedule_id', 'key')
}

async function createPipelines(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('pipelines'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('iid', ref, (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    /** The short name of a branch or a tag, or `refs/merge-requests/1/head`. */
    .addColumn('ref', 'text', (c) => c.notNull())
    .addColumn('tag', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('sha', 'text', (c) => c.notNull())
    .addColumn('before_sha', 'text', (c) => c.notNull())
    /** Whether its ref was protected when the pipeline was created. */
    .addColumn('protected', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('name', 'text')
    .addColumn('yaml_errors', 'text')
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('merge_request_id', ref, (c) => c.references('merge_requests.id').onDelete('set null'))
    .addColumn('trigger_id', ref, (c) => c.references('pipeline_triggers.id').onDelete('set null'))
    .addColumn('schedule_id', ref, (c) => c.references('pipeline_schedules.id').onDelete('set null'))
    /** The job of another pipeline that created it, in `ci_jobs`. */
    .addColumn('bridge_id', ref)
    .addColumn('auto_canceled_by_id', ref)
    /** For a merge request pipeline: variables about the merge request, as JSON. */
    .addColumn('merge_request_variables', 'text')
    /** From the CI file: `conservative`, `interruptible` or `none`; `none` or `all`. */
    .addColumn('on_new_commit', 'text', (c) => c.notNull().defaultTo('conservative'))
    .addColumn('on_job_failure', 'text', (c) => c.notNull().defaultTo('none'))
    .addColumn('coverage', 'double precision')
    /** In seconds, once it has finished. */
    .addColumn('duration', 'integer')
    .addColumn('started_at', timestamp)
    .addColumn('finished_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await keepVersions(db, 'pipelines')
  await unique(db, 'pipelines', 'project_id', 'iid')
  await index(db, 'pipelines', 'project_id', 'id')
  for (const column of ['status', 'ref', 'source', 'sha', 'user_id', 'updated_at'])
    await index(db, 'pipelines', 'project_id', column, 'id')
  for (const column of ['user_id', 'merge_request_id', 'trigger_id', 'schedule_id', 'bridge_id'])
    await index(db, 'pipelines', column, 'id')
  await sql`create index pipelines_left on pipelines (created_at) where status = 'created'`.execute(db)

  await countFacets(db, 'pipelines', { project_id: 'integer', status: 'text' })
  await logChanges(db, 'pipelines', {
    scope: 'project_id',
    columns: ['status', 'ref', 'sha', 'source', 'user_id', 'name', 'updated_at'],
  })
  if (!isSqlite(db)) await index(db, 'pipelines_facets', 'project_id')

  await withId(db.schema.createTable('pipeline_variables'))
    .addColumn('pipeline_id', ref, (c) => c.notNull().references('pipelines.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value_sealed', 'text', (c) => c.notNull())
    .addColumn('variable_type', 'text', (c) => c.notNull().defaultTo('env_var'))
    .addColumn('raw', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await unique(db, 'pipeline_variables', 'pipeline_id', 'key')
}

async function createEnvironments(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('environments'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('external_url', 'text')
    .addColumn('description', 'text')
    /** `available`, `stopping` or `stopped`. */
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('available'))
    .addColumn('tier', 'text', (c) => c.notNull().defaultTo('other'))
    .addColumn('auto_stop_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'environments', 'project_id', 'name')
  await unique(db, 'environments', 'project_id', 'slug')
  await sql`create index environments_due on environments (auto_stop_at) where auto_stop_at is not null`.execute(db)

  /** Jobs with the same key in a project run one at a time. */
  await withId(db.schema.createTable('resource_groups'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('process_mode', 'text', (c) => c.notNull().defaultTo('unordered'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'resource_groups', 'project_id', 'key')
}

async function createJobs(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('ci_jobs'))
    /** `job`; `bridge`: creates another pipeline; `external`: a commit status reported by a tool. */
    .addColumn('kind', 'text', (c) => c.notNull().defaultTo('job'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('pipeline_id', ref, (c) => c.notNull().references('pipelines.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('stage', 'text', (c) => c.notNull())
    .addColumn('stage_position', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    /** `on_success`, `on_failure`, `always`, `manual` or `delayed`. */
    .addColumn('when', 'text', (c) => c.notNull().defaultTo('on_success'))
    .addColumn('allow_failure', boolean, (c) => c.notNull().defaultTo(no))
    /** Replaced by a newer job of the same name. */
    .addColumn('retried', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('interruptible', boolean, (c) => c.notNull().defaultTo(no))
    /** Names of the jobs it waits for, as JSON; null: all jobs of earlier stages. */
    .addColumn('needs', 'text')
    /** Names in order, as JSON. */
    .addColumn('tags', 'text', (c) => c.notNull().defaultTo('[]'))
    /** The rest of its configuration, as JSON. */
    .addColumn('options', 'text')
    .addColumn('ref', 'text', (c) => c.notNull())
    .addColumn('tag', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('sha', 'text', (c) => c.notNull())
    .addColumn('protected', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('runner_id', ref, (c) => c.references('runners.id').onDelete('set null'))
    .addColumn('manager_id', ref, (c) => c.references('runner_managers.id').onDelete('set null'))
    .addColumn('environment_id', ref, (c) => c.references('environments.id').onDelete('set null'))
    .addColumn('resource_group_id', ref, (c) => c.references('resource_groups.id').onDelete('set null'))
    .addColumn('token_digest', 'text')
    .addColumn('token_sealed', 'text')
    /** Timeout in seconds, known once the job has a runner. */
    .addColumn('timeout', 'integer')
    .addColumn('failure_reason', 'text')
    .addColumn('exit_code', 'integer')
    .addColumn('coverage', 'double precision')
    /** Bytes of its log so far: in `ci_trace_chunks` while it runs, then in a blob. */
    .addColumn('trace_size', ref, (c) => c.notNull().defaultTo(0))
    .addColumn('trace_digest', 'text')
    .addColumn('artifacts_expire_at', timestamp)
    .addColumn('erased_at', timestamp)
    .addColumn('erased_by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    /** For external jobs. */
    .addColumn('target_url', 'text')
    .addColumn('description', 'text')
    /** For delayed jobs: when they start. */
    .addColumn('scheduled_at', timestamp)
    .addColumn('queued_at', timestamp)
    .addColumn('started_at', timestamp)
    .addColumn('finished_at', timestamp)
    /** When its runner last sent a request for it. */
    .addColumn('contacted_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await keepVersions(db, 'ci_jobs')
  await index(db, 'ci_jobs', 'pipeline_id', 'stage_position', 'id')
  await index(db, 'ci_jobs', 'project_id', 'id')
  await index(db, 'ci_jobs', 'project_id', 'status', 'id')
  await index(db, 'ci_jobs', 'project_id', 'sha', 'id')
  await index(db, 'ci_jobs', 'runner_id', 'id')
  for (const column of ['user_id', 'manager_id', 'environment_id', 'erased_by_id', 'trace_digest'])
    await index(db, 'ci_jobs', column)
  await unique(db, 'ci_jobs', 'token_digest')
  const partial = (name: string, columns: string, condition: string) =>
    sql.raw(`create index ci_jobs_${name} on ci_jobs (${columns}) where ${condition}`).execute(db)
  await partial('waiting', 'queued_at, id', `status = 'pending' and kind = 'job'`)
  await partial('running', 'contacted_at', `status in ('running', 'canceling') and kind = 'job'`)
  await partial('scheduled', 'scheduled_at', `status = 'scheduled'`)
  await partial('resources', 'resource_group_id, id', 'resource_group_id is not null')

  await countFacets(db, 'ci_jobs', { project_id: 'integer', kind: 'text', status: 'text' })
  await logChanges(db, 'ci_jobs', { scope: 'project_id', columns: ['status', 'kind'] })
  if (!isSqlite(db)) await index(db, 'ci_jobs_facets', 'project_id')

  await db.schema
    .createTable('ci_trace_chunks')
    .addColumn('job_id', ref, (c) => c.notNull().references('ci_jobs.id').onDelete('cascade'))
    /** Its offset in the log. */
    .addColumn('start', ref, (c) => c.notNull())
    .addColumn('content', columnTypes(db).bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('ci_trace_chunks_unique', ['job_id', 'start'] as never[])
    .execute()

  await withId(db.schema.createTable('deployments'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('iid', ref, (c) => c.notNull())
    .addColumn('environment_id', ref, (c) => c.notNull().references('environments.id').onDelete('cascade'))
    .addColumn('job_id', ref, (c) => c.references('ci_jobs.id').onDelete('set null'))
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('ref', 'text', (c) => c.notNull())
    .addColumn('tag', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('sha', 'text', (c) => c.notNull())
    /** `created`, `running`, `success`, `failed`, `canceled`, `blocked` or `skipped`. */
    .addColumn('status', 'text', (c) => c.notNull())
    /** The name of the job that stops the environment. */
    .addColumn('on_stop', 'text')
    .addColumn('finished_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'deployments', 'project_id', 'iid')
  for (const column of ['created_at', 'updated_at', 'ref', 'status'])
    await index(db, 'deployments', 'project_id', column, 'id')
  await index(db, 'deployments', 'environment_id', 'id')
  for (const column of ['job_id', 'user_id']) await index(db, 'deployments', column)
}

async function createArtifacts(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('ci_artifacts'))
    .addColumn('job_id', ref, (c) => c.notNull().references('ci_jobs.id').onDelete('cascade'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    /** `archive`, `junit`, `dotenv` …; `zip`, `gzip` or `raw`. */
    .addColumn('file_type', 'text', (c) => c.notNull())
    .addColumn('file_format', 'text', (c) => c.notNull())
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('size', ref, (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('expire_at', timestamp)
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'ci_artifacts', 'job_id', 'file_type')
  await index(db, 'ci_artifacts', 'project_id')
  await index(db, 'ci_artifacts', 'digest')
  await sql`create index ci_artifacts_due on ci_artifacts (expire_at) where expire_at is not null`.execute(db)
  await followRemovals(db)
}

/** When a row is deleted, by whatever statement, its blob is checked later, and its size no longer counts. */
async function followRemovals(db: Kysely<never>): Promise<void> {
  const { withId, timestamp } = columnTypes(db)
  await withId(db.schema.createTable('ci_left_blobs'))
    .addColumn('content', 'text', (c) => c.notNull())
    /** When the entry was first seen; the blob is kept for some time after that. */
    .addColumn('left_at', timestamp)
    .execute()
  const run = (text: string) => sql.raw(text).execute(db)
  const leave = (content: string) => `insert into ci_left_blobs (content) values (${content});`
  const weigh = (row: string, by: string) =>
    `update projects set job_artifacts_size = job_artifacts_size ${by} ${row}.size where id = ${row}.project_id;`
  const triggers = [
    ['ci_artifacts', 'insert', 'true', weigh('new', '+')],
    ['ci_artifacts', 'delete', 'true', `${leave('old.digest')} ${weigh('old', '-')}`],
    ['ci_jobs', 'delete', 'old.trace_digest is not null', leave('old.trace_digest')],
    [
      'ci_jobs',
      'update of trace_digest',
      'old.trace_digest is not null and new.trace_digest is null',
      leave('old.trace_digest'),
    ],
  ] as const
  for (const [n, [table, event, condition, body]] of triggers.entries()) {
    const name = `${table}_left_${n}`
    if (isSqlite(db)) await run(`create trigger ${name} after ${event} on ${table} when ${condition} begin ${body} end`)
    else {
      await run(`create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`)
      await run(`create trigger ${name} after ${event} on ${table} for each row when (${condition})
        execute function ${name}()`)
    }
  }
}

async function createVariables(db: Kysely<never>): Promise<void> {
  const { withId, ref, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('ci_variables'))
    /** Of a project, of a group, or, with neither, of the instance. */
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value_sealed', 'text', (c) => c.notNull())
    /** `env_var` or `file`. */
    .addColumn('variable_type', 'text', (c) => c.notNull().defaultTo('env_var'))
    .addColumn('protected', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('masked', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('hidden', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('raw', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('environment_scope', 'text', (c) => c.notNull().defaultTo('*'))
    .addColumn('description', 'text')
    .execute()
  const once = (name: string, columns: string, condition: string) =>
    sql
      .raw(`create unique index ci_variables_${name}_unique on ci_variables (${columns}) where ${condition}`)
      .execute(db)
  await once('project', 'project_id, key, environment_scope', 'project_id is not null')
  await once('group', 'group_id, key, environment_scope', 'group_id is not null')
  await once('instance', 'key, environment_scope', 'project_id is null and group_id is null')
}

async function createJobTokenScope(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  /** Whether only the listed projects and groups may access the project with their job tokens. */
  await db.schema
    .alterTable('projects')
    .addColumn('job_token_scope_enabled', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  await withId(db.schema.createTable('job_token_allowlist'))
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('allowed_project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('allowed_group_id', ref, (c) => c.references('namespaces.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await unique(db, 'job_token_allowlist', 'project_id', 'allowed_project_id')
  await unique(db, 'job_token_allowlist', 'project_id', 'allowed_group_id')
  await index(db, 'job_token_allowlist', 'allowed_project_id')
  await index(db, 'job_token_allowlist', 'allowed_group_id')
}

/** The shared runner usage of a root namespace, by month. */
async function createMinutes(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema
    .createTable('ci_minutes')
    .addColumn('namespace_id', ref, (c) => c.notNull().references('namespaces.id').onDelete('cascade'))
    /** `2026-11`. */
    .addColumn('month', 'text', (c) => c.notNull())
    .addColumn('seconds', 'double precision', (c) => c.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('ci_minutes_unique', ['namespace_id', 'month'] as never[])
    .execute()
}
