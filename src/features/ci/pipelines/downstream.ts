/** Pipelines that jobs create: child pipelines in the same project, and pipelines in other projects. */
import { Scope, valuesOf, type Variable } from '../../../ci/config/variables.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject, type Project } from '../../projects/projects/queries.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf, type JobOptions } from '../jobs/options.ts'
import { cancelJob, dropJob, runJob, succeedJob } from '../jobs/transitions.ts'
import { settingsFor } from '../variables/queries.ts'
import { readArtifactText } from '../jobs/archives.ts'
import { createPipeline, type Made, type PipelineInput } from './create.ts'
import { IncludeReader } from './includes.ts'
import { mergeRequestVariables } from './merge-requests.ts'
import type { Pipeline } from './model.ts'
import { ruleVariables, serverOf } from './predefined.ts'
import { lockPipeline, processLocked } from './process.ts'
import { parseRefName } from './refs.ts'
import type { VariableInput } from './saving.ts'

/** Children of children are allowed, but nothing deeper. */
const DEEPEST_CHILD = 2
const LONGEST_CHAIN = 20
/** The limit of pipelines below one root, at any depth and in any project. */
const MOST_BELOW = 1000

/** Runs when a bridge job is pending. Idempotent. */
export async function makeDownstream(app: App, id: number): Promise<void> {
  const bridge = await findBridge(app, id)
  if (!bridge || !['pending', 'running'].includes(bridge.status)) return
  const running = (await runJob(app, bridge, { runner_id: null })) ?? bridge
  const known = await downstreamOf(app, id)
  const made = known ? { pipeline: known, errors: [] } : await make(app, running)
  if (typeof made === 'string') return void (await dropJob(app, running, { reason: made }))
  const { pipeline } = made
  if (!pipeline || pipeline.yaml_errors !== null) {
    return void (await dropJob(app, running, { reason: 'downstream_pipeline_creation_failed' }))
  }
  if (optionsOf(running).trigger?.strategy) await followDownstream(app, pipeline)
  else await succeedJob(app, running)
}

async function findBridge({ db }: App, id: number): Promise<Job | undefined> {
  return db.selectFrom('ci_jobs').selectAll().where('id', '=', id).where('kind', '=', 'bridge').executeTakeFirst()
}

const downstreamOf = ({ db }: App, bridge: number): Promise<Pipeline | undefined> =>
  db.selectFrom('pipelines').selectAll().where('bridge_id', '=', bridge).orderBy('id', 'desc').executeTakeFirst()

/** The new pipeline, or the failure reason. */
async function make(app: App, bridge: Job): Promise<Made | string> {
  const { trigger } = optionsOf(bridge)
  const [project, parent, actor] = await Promise.all([
    findProjectById(app.db, bridge.project_id),
    app.db.selectFrom('pipelines').selectAll().where('id', '=', bridge.pipeline_id).executeTakeFirst(),
    bridge.user_id === null ? null : findUser(app.db, bridge.user_id),
  ])
  if (!trigger || !project || !parent) return 'invalid_bridge_trigger'
  const scope = await scopeOf(app, bridge, parent, project, actor)
  const above = await chainAbove(app, parent)
  if (above === null) return 'pipeline_loop_detected'
  const root_id = above.at(-1)!.id
  if (await isFull(app, root_id)) return 'reached_max_pipeline_hierarchy_size'
  const given = {
    actor,
    bridge_id: bridge.id,
    root_id,
    variables: await forwarded(app, bridge, parent, trigger, scope),
  }
  if (trigger.include) return makeChild(app, { project, parent, above, actor, trigger, given })
  return makeElsewhere(app, { parent, above, trigger, scope, given, actor })
}

async function isFull({ db }: App, root: number): Promise<boolean> {
  const below = await db.selectFrom('pipelines').select('id').where('root_id', '=', root).limit(MOST_BELOW).execute()
  return below.length === MOST_BELOW
}

type Trigger = NonNullable<JobOptions['trigger']>
type Input = { actor: User | null; bridge_id: number; root_id: number; variables: VariableInput[] }

interface ChildOptions {
  project: Project
  parent: Pipeline
  above: readonly Pipeline[]
  actor: User | null
  trigger: Trigger
  given: Input
}

async function makeChild(
  app: App,
  { project, parent, above, actor, trigger, given }: ChildOptions,
): Promise<Made | string> {
  const depth = above.findIndex(({ source }) => source !== 'parent_pipeline')
  if (depth >= DEEPEST_CHILD || depth < 0) return 'reached_max_descendant_pipelines_depth'
  const subject = await loadRepositorySubject(app, project, actor)
  const reader = new IncludeReader(app, actor, subject, (include) =>
    readArtifactText(app, parent.id, include.job, include.path),
  )
  return createPipeline(app, {
    ...given,
    project,
    source: 'parent_pipeline',
    ref: parent.ref,
    tag: parent.tag,
    sha: parent.sha,
    before_sha: parent.before_sha,
    inputs: trigger.inputs,
    isForeign: !parent.protected,
    ...(await ofMergeRequest(app, parent)),
    configuration: { text: JSON.stringify({ include: trigger.include }), reader },
  })
}

/** A child pipeline belongs to the merge request of its parent. */
async function ofMergeRequest({ db }: App, parent: Pipeline): Promise<Pick<PipelineInput, 'mergeRequest'>> {
  const { merge_request_id: id, source_sha, target_sha } = parent
  if (id === null) return {}
  const one = await db
    .selectFrom('merge_requests')
    .select(['base_sha', 'source_branch', 'target_branch', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!one) return {}
  const variables = mergeRequestVariables(parent)
  const base_sha = target_sha ?? one.base_sha
  const merged = source_sha !== null && target_sha !== null ? { merged: { source_sha, target_sha } } : {}
  const target = one.project_id === parent.project_id ? one.target_branch : null
  return { mergeRequest: { id, variables, base_sha, branch: one.source_branch, target, ...merged } }
}

interface OtherOptions {
  parent: Pipeline
  above: readonly Pipeline[]
  trigger: Trigger
  scope: Scope
  given: Input
  actor: User | null
}

async function makeElsewhere(
  app: App,
  { parent, above, trigger, scope, given, actor }: OtherOptions,
): Promise<Made | string> {
  if (parent.source === 'parent_pipeline' && above.length > LONGEST_CHAIN) return 'pipeline_loop_detected'
  const path = scope.expand(trigger.project ?? '')
  const target = /^\d+$/.test(path) ? null : await findProjectSubject(app, path, actor)
  if (!target || !projectPolicy.read(target)) return 'downstream_bridge_project_not_found'
  const parsed = parseRefName(trigger.branch === null ? target.project.default_branch : scope.expand(trigger.branch))
  if (!parsed) return 'downstream_pipeline_creation_failed'
  const { ref } = parsed
  // This project and ref are already in the chain, so a new pipeline would start an endless loop.
  if (above.some((one) => one.project_id === target.project.id && one.ref === ref)) return 'pipeline_loop_detected'
  return createPipeline(app, {
    ...given,
    project: target.project,
    source: 'pipeline',
    ...parsed,
    inputs: trigger.inputs,
  })
}

/** The pipeline, its parent, the parent of that, and so on. Null if the chain is too long. */
async function chainAbove({ db }: App, pipeline: Pipeline): Promise<Pipeline[] | null> {
  const chain = [pipeline]
  for (let one = pipeline; one.bridge_id !== null;) {
    const above = await db
      .selectFrom('pipelines')
      .innerJoin('ci_jobs', 'ci_jobs.pipeline_id', 'pipelines.id')
      .selectAll('pipelines')
      .where('ci_jobs.id', '=', one.bridge_id)
      .executeTakeFirst()
    if (!above) break
    chain.push(above)
    if (chain.length > LONGEST_CHAIN) return null
    one = above
  }
  return chain
}

async function scopeOf(app: App, bridge: Job, parent: Pipeline, project: Project, actor: User | null): Promise<Scope> {
  const subject = await loadRepositorySubject(app, project, actor)
  const settings = await settingsFor(app, { project, isProtected: parent.protected })
  return new Scope([
    valuesOf(await givenTo(app, parent.id)),
    valuesOf(settings),
    valuesOf(optionsOf(bridge).variables ?? []),
    valuesOf([...ruleVariables(await serverOf(app), subject, parent, null), ...mergeRequestVariables(parent)]),
  ])
}

async function givenTo({ db, vault }: App, pipeline: number): Promise<(Variable & VariableInput)[]> {
  const rows = await db.selectFrom('pipeline_variables').selectAll().where('pipeline_id', '=', pipeline).execute()
  return rows.map(({ key, value_sealed, variable_type, raw }) => ({
    key,
    value: vault.open(value_sealed),
    variable_type,
    raw,
  }))
}

async function forwarded(
  app: App,
  bridge: Job,
  parent: Pipeline,
  { forward }: Trigger,
  scope: Scope,
): Promise<VariableInput[]> {
  const ofFile = forward.yaml_variables ? (optionsOf(bridge).variables ?? []) : []
  return [
    ...ofFile.map(({ key, value, expand }) => ({ key, value: expand ? scope.expand(value) : value })),
    ...(forward.pipeline_variables ? await givenTo(app, parent.id) : []),
  ]
}

/** A bridge with a `strategy` takes the status of the pipeline that it created. */
export async function followDownstream(app: App, pipeline: Pipeline): Promise<void> {
  const bridge = pipeline.bridge_id === null ? null : await findBridge(app, pipeline.bridge_id)
  if (!bridge || !optionsOf(bridge).trigger?.strategy) return
  if (pipeline.status === 'success') await succeedJob(app, bridge)
  else if (pipeline.status === 'canceled') await cancelJob(app, bridge)
  else if (pipeline.status === 'failed' || pipeline.status === 'skipped')
    await dropJob(app, bridge, { reason: 'unknown_failure' })
  else if (pipeline.status === 'running') await reopen(app, bridge)
}

/** The downstream pipeline runs again. */
async function reopen(app: App, bridge: Job): Promise<void> {
  await transact(app, async (app) => {
    await lockPipeline(app, bridge.pipeline_id)
    const now = timestamp(app.clock)
    const { numUpdatedRows } = await app.db
      .updateTable('ci_jobs')
      .set({ status: 'running', finished_at: null, failure_reason: null, updated_at: now })
      .where('id', '=', bridge.id)
      .where('status', 'in', ['failed', 'canceled', 'success'])
      .where('retried', '=', false)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await processLocked(app, bridge.pipeline_id)
  })
}
