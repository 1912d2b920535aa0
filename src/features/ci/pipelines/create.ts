/**
 * Creates all pipelines. Runs the checks in the order of the API contract and compiles the configuration. Then one
 * transaction writes the pipeline, its variables and its jobs. Finally a ref keeps the commit, and the first processing
 * runs. If the process ends in between, the pipeline stays `created` until the background job `ci.recover_pipelines`
 * continues it.
 */
import type { Plan } from '../../../ci/config/plan.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { findCommit, type Commit } from '../../../git/objects/commits.ts'
import { keepCommit, pointAt } from '../../../git/refs/pointing.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import { Developer, FeatureDisabled } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { nextIid, transactNumbered } from '../../planning/iids.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { settingsFor } from '../variables/queries.ts'
import { TOO_MANY_ACTIVE, exceedsActiveJobs } from './active-jobs.ts'
import { cancelOutdated } from './auto-cancel.ts'
import { compileFor, readConfiguration } from './configuration.ts'
import type { IncludeReader } from './includes.ts'
import { markMade, type Cause } from './marks.ts'
import { openFrom } from './merge-requests.ts'
import type { Pipeline, PipelineSource } from './model.ts'
import { DEFAULT_CONFIG_PATH, ruleVariables, serverOf, type PipelineFacts } from './predefined.ts'
import { processPipeline } from './process.ts'
import { isProtectedRef, mayRunOn, type RunRef } from './rights.ts'
import { saveJobs, saveVariables, type VariableInput } from './saving.ts'

export interface PipelineInput {
  readonly project: Project
  /** The pipeline runs as this user, and only if this user may run it. */
  readonly actor: User | null
  readonly source: PipelineSource
  /** The short name of a branch or a tag, or a full internal ref (`refs/merge-requests/1/head`). */
  readonly ref: string
  /** Detected if absent. If a branch and a tag have the same name, the ref is ambiguous. */
  readonly tag?: boolean
  /** Default: the tip of the ref. */
  readonly sha?: string
  readonly before_sha?: string | null
  readonly variables?: readonly VariableInput[]
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  readonly trigger_id?: number
  readonly schedule_id?: number
  /** The job that creates the pipeline. */
  readonly bridge_id?: number
  /** The first pipeline of the chain. */
  readonly root_id?: number
  /** Replaces the file at the commit. */
  readonly configuration?: { readonly text: string; readonly reader?: IncludeReader }
  readonly mergeRequest?: {
    readonly id: number
    readonly variables: readonly Variable[]
    readonly base_sha: string | null
    /** The source branch. A user who may run pipelines on the source branch may run this one. */
    readonly branch: string
    /** The target branch, if it is in the same project. The pipeline is protected if both branches are. */
    readonly target: string | null
    /** The two heads, if the pipeline runs on the result of a trial merge. */
    readonly merged?: { readonly source_sha: string; readonly target_sha: string }
  }
  /**
   * The code comes from another project, whatever its branch is called. The pipeline gets nothing that is protected.
   */
  readonly isForeign?: boolean
  /** The push option `ci.skip`. */
  readonly isSkipped?: boolean
  /** Run only this job. */
  readonly job?: string
  /** The cause of an automatic pipeline. Each cause creates at most one pipeline. */
  readonly cause?: Cause
}

export interface Made {
  /** Null: no pipeline was stored. Null without errors: the same cause has already created a pipeline. */
  readonly pipeline: Pipeline | null
  readonly errors: readonly string[]
}

export const pipelineRef = (id: number): string => `refs/pipelines/${id}`

const refused = (...errors: string[]): Made => ({ pipeline: null, errors })

/**
 * Pipelines from these sources are stored even if the configuration is invalid, so that users see the error. A user who
 * starts a pipeline by hand gets the error at once.
 */
const KEPT_WITH_ERRORS: readonly PipelineSource[] = [
  'push',
  'trigger',
  'pipeline',
  'parent_pipeline',
  'merge_request_event',
]
const OBEYS_SKIPPING: readonly PipelineSource[] = ['push', 'merge_request_event']
const SKIP_MARKER = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i

const EMPTY = 'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.'
const FILTERED = 'The pipeline did not run. Review the workflow rules configuration.'

export async function createPipeline(app: App, input: PipelineInput): Promise<Made> {
  const subject = await loadRepositorySubject(app, input.project, input.actor)
  const found = await admit(app, subject, input)
  if ('errors' in found) return found
  const { facts, commit } = found
  const text = input.configuration?.text ?? (await readConfiguration(subject, facts.sha))
  if (text === null) return refused(`Missing ${input.project.ci_config_path || DEFAULT_CONFIG_PATH} file`)
  if (OBEYS_SKIPPING.includes(input.source) && (await isSkipped(subject.dir, input, commit))) {
    return { pipeline: await save(app, subject, input, facts, { status: 'skipped' }), errors: [] }
  }
  const settings = [
    ...(await settingsFor(app, { project: input.project, isProtected: facts.protected })),
    ...(input.variables ?? []).map(({ key, value, variable_type }) => ({ key, value, file: variable_type === 'file' })),
  ]
  const { inputs, mergeRequest } = input
  const mergeRequestVariables =
    mergeRequest?.variables ?? (await openFrom(app, { project_id: input.project.id, ...facts }))
  const compiled = await compileFor(app, text, {
    subject,
    facts,
    commit,
    settings,
    inputs,
    mergeRequestVariables,
    mergeRequest,
    ...(input.configuration?.reader && { reader: input.configuration.reader }),
  })
  if (!compiled.plan) return keepFaults(app, subject, input, facts, compiled.errors)
  const plan = input.job === undefined ? compiled.plan : alone(compiled.plan, input.job)
  if (plan.is_refused) return refused(FILTERED)
  if (plan.jobs.length === 0) return refused(EMPTY)
  if (await exceedsActiveJobs(app, input.project.id, plan.jobs.length))
    return keepFaults(app, subject, input, facts, [{ message: TOO_MANY_ACTIVE }])
  const predefined = [...ruleVariables(await serverOf(app), subject, facts, commit), ...mergeRequestVariables]
  const pipeline = await save(app, subject, input, facts, {
    status: 'created',
    plan,
    settings,
    predefined,
    mergeRequestVariables,
  })
  if (!pipeline) return { pipeline, errors: [] }
  await begin(subject.dir, pipeline)
  const begun = (await processPipeline(app, pipeline.id)) ?? pipeline
  await cancelOutdated(app, subject, begun)
  return { pipeline: begun, errors: [] }
}

/** The plan with this job only, without needs. */
const alone = (plan: Plan, name: string): Plan => ({
  ...plan,
  jobs: plan.jobs.filter((job) => job.name === name).map((job) => ({ ...job, needs: null, dependencies: [] })),
})

/** For a trial merge, the message of the source commit decides. */
async function isSkipped(dir: string, { isSkipped, mergeRequest }: PipelineInput, commit: Commit): Promise<boolean> {
  const source = mergeRequest?.merged ? await findCommit(dir, mergeRequest.merged.source_sha) : commit
  return isSkipped === true || SKIP_MARKER.test(source?.message ?? '')
}

/** Runners fetch the pipeline ref while the pipeline is active. The commit itself is kept for good. */
export async function begin(dir: string, { id, sha }: Pick<Pipeline, 'id' | 'sha'>): Promise<void> {
  await keepCommit(dir, sha)
  await pointAt(dir, pipelineRef(id), sha)
}

async function keepFaults(
  app: App,
  subject: RepositorySubject,
  input: PipelineInput,
  facts: PipelineFacts,
  found: readonly { message: string }[],
): Promise<Made> {
  const errors = found.map(({ message }) => message)
  if (!KEPT_WITH_ERRORS.includes(input.source)) return { pipeline: null, errors }
  const pipeline = await save(app, subject, input, facts, { status: 'failed', yaml_errors: errors.join(', ') })
  return { pipeline, errors }
}

async function admit(
  app: App,
  subject: RepositorySubject,
  input: PipelineInput,
): Promise<Made | { facts: PipelineFacts; commit: Commit }> {
  const { project, dir, level } = subject
  if (project.builds_access_level === FeatureDisabled) return refused('Pipelines are disabled!')
  if (project.archived) return refused('Archived project!')
  const tag = await isTag(dir, input)
  if (input.actor?.state !== 'active' || level < Developer) {
    return refused('Insufficient permissions to create a new pipeline')
  }
  const rightsOn = { ref: input.mergeRequest?.branch ?? input.ref, tag: tag === true }
  if (!(await mayRunOn(app, subject, rightsOn))) {
    const why = 'Please select a different branch or contact your administrator for assistance.'
    return refused(`You do not have sufficient permission to run a pipeline on '${rightsOn.ref}'. ${why}`)
  }
  if (tag === 'both') return refused('Ref is ambiguous')
  if (tag === null) return refused('Reference not found')
  const sha = input.sha ?? (await resolveRef(dir, wholeRef(input.ref, tag)))
  const commit = sha === null ? null : await findCommit(dir, sha)
  if (!commit) return refused('Commit not found')
  const facts = {
    ref: input.ref,
    tag,
    sha: commit.id,
    before_sha: input.before_sha ?? NO_OBJECT,
    source: input.source,
    protected: !input.isForeign && (await isProtectedAs(app, project.id, input, rightsOn)),
  }
  return { facts, commit }
}

/** A trial merge may take code and configuration from either branch. */
async function isProtectedAs(
  app: App,
  project: number,
  { mergeRequest }: PipelineInput,
  rightsOn: RunRef,
): Promise<boolean> {
  if (!(await isProtectedRef(app, project, rightsOn))) return false
  const target = mergeRequest?.target ?? null
  return target === null || isProtectedRef(app, project, { ref: target, tag: false })
}

export const wholeRef = (ref: string, tag: boolean): string =>
  ref.startsWith('refs/') ? ref : `refs/${tag ? 'tags' : 'heads'}/${ref}`

async function isTag(dir: string, { ref, tag, sha }: PipelineInput): Promise<boolean | 'both' | null> {
  // A push knows the kind of its ref, whatever has happened to the branch since.
  if (tag !== undefined && sha !== undefined) return tag
  if (ref.startsWith('refs/')) return (await resolveRef(dir, ref)) === null ? null : false
  const [branch, named] = await Promise.all([
    tag === true ? null : resolveRef(dir, wholeRef(ref, false)),
    tag === false ? null : resolveRef(dir, wholeRef(ref, true)),
  ])
  if (branch !== null && named !== null) return 'both'
  return branch === null && named === null ? null : named !== null
}

interface Content {
  readonly status: 'created' | 'skipped' | 'failed'
  readonly yaml_errors?: string
  readonly plan?: Plan
  readonly settings?: readonly Variable[]
  readonly predefined?: readonly Variable[]
  readonly mergeRequestVariables?: readonly Variable[]
}

function save(
  app: App,
  { project }: RepositorySubject,
  input: PipelineInput,
  facts: PipelineFacts,
  { status, yaml_errors, plan, settings = [], predefined = [], mergeRequestVariables = [] }: Content,
): Promise<Pipeline | null> {
  const now = timestamp(app.clock)
  const { id: project_id } = project
  return transactNumbered(app, { project_id }, 'pipelines', async (app) => {
    if (input.cause && !(await markMade(app, input.cause))) return null
    const pipeline = await app.db
      .insertInto('pipelines')
      .values({
        project_id,
        iid: await nextIid(app.db, { project_id }, 'pipelines'),
        ...facts,
        status,
        name: plan?.name ?? null,
        yaml_errors: yaml_errors ?? null,
        user_id: input.actor?.id ?? null,
        merge_request_id: input.mergeRequest?.id ?? null,
        source_sha: input.mergeRequest?.merged?.source_sha ?? null,
        target_sha: input.mergeRequest?.merged?.target_sha ?? null,
        trigger_id: input.trigger_id ?? null,
        schedule_id: input.schedule_id ?? null,
        bridge_id: input.bridge_id ?? null,
        root_id: input.root_id ?? null,
        auto_canceled_by_id: null,
        merge_request_variables: mergeRequestVariables.length > 0 ? JSON.stringify(mergeRequestVariables) : null,
        on_new_commit: plan?.auto_cancel.on_new_commit ?? 'conservative',
        on_job_failure: plan?.auto_cancel.on_job_failure ?? 'none',
        coverage: null,
        duration: null,
        started_at: null,
        finished_at: status === 'failed' ? now : null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await saveVariables(app, pipeline, input.variables ?? [])
    if (plan) await saveJobs(app, pipeline, plan, { settings, predefined })
    await emit(app, 'pipeline.changed', { id: pipeline.id, project_id, sha: pipeline.sha, status })
    return pipeline
  })
}
