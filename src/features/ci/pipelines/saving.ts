/** Writes the variables and jobs of a new pipeline, in the transaction that creates the pipeline. */
import { fileVariables, type Plan, type PlannedJob } from '../../../ci/config/plan.ts'
import { Scope, valuesOf, type Variable } from '../../../ci/config/variables.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import type { NewRow } from '../../../store/database.ts'
import { ensureEnvironment, isEnvironmentName } from '../environments/making.ts'
import { NOTHING_YET } from '../jobs/cloning.ts'
import type { JobOptions } from '../jobs/options.ts'
import { announceJobs } from '../jobs/steps.ts'
import { newJobToken } from '../jobs/tokens.ts'
import type { Pipeline } from './model.ts'

export interface VariableInput {
  readonly key: string
  readonly value: string
  readonly variable_type?: 'env_var' | 'file' | null | undefined
  readonly raw?: boolean | null | undefined
}

const AT_ONCE = 200

export async function saveVariables(app: App, { id }: Pipeline, variables: readonly VariableInput[]): Promise<void> {
  const last = new Map(variables.map((variable) => [variable.key, variable]))
  const rows = Array.from(last.values(), ({ key, value, variable_type, raw }) => ({
    pipeline_id: id,
    key,
    value_sealed: app.vault.seal(value),
    variable_type: variable_type ?? 'env_var',
    raw: raw ?? false,
  }))
  for (const some of batchesOf(rows, AT_ONCE)) await app.db.insertInto('pipeline_variables').values(some).execute()
}

export async function saveJobs(
  app: TransactionApp,
  pipeline: Pipeline,
  plan: Plan,
  { settings, predefined }: { settings: readonly Variable[]; predefined: readonly Variable[] },
): Promise<void> {
  const known = [valuesOf(settings), valuesOf(predefined)] as const
  const ids = new Map<string, number>()
  const rows: NewRow<'ci_jobs'>[] = []
  for (const job of plan.jobs) {
    const variables = fileVariables(plan, job)
    const scope = new Scope([known[0], valuesOf(variables), ofJob(job), known[1]])
    const environment = job.environment && { ...job.environment, name: scope.expand(job.environment.name) }
    const isDeployable = environment === null || isEnvironmentName(environment.name)
    const group = job.resource_group === null ? null : scope.expand(job.resource_group).slice(0, 255)
    rows.push({
      ...NOTHING_YET,
      ...columnsOf(pipeline, { ...job, variables, environment }),
      ...(!job.trigger && newJobToken(app.vault)),
      ...(!isDeployable && { status: 'failed', failure_reason: 'environment_creation_failure' }),
      environment_id:
        environment && isDeployable
          ? await remembered(ids, `environment ${environment.name}`, async () => {
              const { id } = await ensureEnvironment(app, pipeline.project_id, environment.name, {
                tier: environment.deployment_tier,
              })
              return id
            })
          : null,
      resource_group_id: group
        ? await remembered(ids, `resource ${group}`, () => ensureResourceGroup(app, pipeline.project_id, group))
        : null,
    })
  }
  for (const some of batchesOf(rows, AT_ONCE)) {
    await announceJobs(app, await app.db.insertInto('ci_jobs').values(some).returningAll().execute())
  }
}

/** More variables that names of environments may use. */
const ofJob = ({ name, stage }: PlannedJob): ReadonlyMap<string, string> =>
  new Map([
    ['CI_JOB_NAME', name],
    ['CI_JOB_STAGE', stage],
  ])

function columnsOf(pipeline: Pipeline, job: PlannedJob) {
  const { name, stage, stage_index, when, tags, ...rest } = job
  const options: JobOptions = rest
  const { project_id, ref, tag, sha, user_id, created_at } = pipeline
  const named = job.needs?.flatMap((need) => (need.kind === 'job' ? need.job : []))
  return {
    kind: job.trigger ? ('bridge' as const) : ('job' as const),
    project_id,
    pipeline_id: pipeline.id,
    name,
    stage,
    stage_position: stage_index,
    status: 'created' as const,
    when,
    allow_failure: job.allow_failure === true,
    interruptible: job.interruptible ?? false,
    needs: named ? JSON.stringify(named) : null,
    tags: JSON.stringify(tags),
    options: JSON.stringify(options),
    ref,
    tag,
    sha,
    protected: pipeline.protected,
    user_id,
    token_digest: null,
    token_sealed: null,
    created_at,
    updated_at: created_at,
  }
}

async function remembered(known: Map<string, number>, key: string, make: () => Promise<number>): Promise<number> {
  const id = known.get(key) ?? (await make())
  known.set(key, id)
  return id
}

async function ensureResourceGroup({ db, clock }: App, project_id: number, key: string): Promise<number> {
  const now = timestamp(clock)
  const { id } = await db
    .insertInto('resource_groups')
    .values({ project_id, key, process_mode: 'unordered', created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.columns(['project_id', 'key']).doUpdateSet({ updated_at: now }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
