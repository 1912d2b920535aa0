/** Answers a runner that requests a job: with a job, or after waiting for one. */
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { pointAt } from '../../../git/refs/pointing.ts'
import { hotQuery } from '../../../store/hot.ts'
import { together } from '../../../store/together.ts'
import { transact } from '../../../store/transact.ts'
import { cachedRows } from '../../../store/versions.ts'
import { userRows } from '../../identity/users/queries.ts'
import { namespaceRows, projectRows } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import { startJobs, type Beginning } from '../jobs/steps.ts'
import { dropJob, runJob } from '../jobs/transitions.ts'
import { masksIn } from '../jobs/variables.ts'
import { awaitJobs } from '../jobs/waiting.ts'
import { pipelineRef } from '../pipelines/create.ts'
import type { Runner } from '../runners/model.ts'
import { findRunner } from '../runners/queries.ts'
import { dependenciesOf, lacksArchive } from './dependencies.ts'
import { presentJob, type Handed } from './payload.ts'
import { candidates, removeFromQueue } from './queue.ts'
import { beginRun } from './runs.ts'

/** Less than a minute, because proxies and this server close silent connections after a minute. */
const HOLD_MS = 50_000

export interface Asking {
  readonly runner: Runner
  readonly manager_id: number | null
  /** Features that the agent supports. */
  readonly features: Readonly<Record<string, boolean>>
  /** The value that the runner got with its last empty answer. */
  readonly last_update: string | null
  readonly gone: AbortSignal
}

export type Answered =
  | Picked
  | { readonly isConflict: true }
  | { readonly isConflict: false; readonly last_update: string }

/**
 * Changes whenever the runner is edited. The value does not depend on jobs: the server reads the queue before it lets a
 * runner wait, so a runner with an old value misses no job.
 */
const valueFor = ({ id, updated_at }: Runner): string => hash('sha256', `${id} ${updated_at}`)

export async function askForJob(app: App, asking: Asking): Promise<Answered> {
  const { gone } = asking
  using vigil = asking.last_update === valueFor(asking.runner) ? awaitJobs(app, { ms: HOLD_MS, gone }) : null
  for (let { runner } = asking; ;) {
    const last_update = valueFor(runner)
    const picked = runner.active && !gone.aborted ? await pickJob(app, { ...asking, runner }) : null
    if (picked === 'lost') return { isConflict: true }
    if (picked) return picked
    if (!(await vigil?.nextEvent())) return { last_update, isConflict: false }
    const current = await findRunner(app, runner.id)
    if (!current) return { last_update, isConflict: false }
    runner = current
  }
}

interface Picked {
  readonly id: number
  /** The job in the format for runners. */
  readonly job: object
}

async function pickJob(app: App, asking: Asking): Promise<Picked | 'lost' | null> {
  let isLost = false
  for await (const id of candidates(app, asking.runner)) {
    if (asking.gone.aborted) return null
    const given = id === null ? 'lost' : await takeJob(app, id, asking)
    if (given === 'lost') {
      isLost = true
      continue
    }
    removeFromQueue(app, id!)
    if (given) return given
  }
  return isLost ? 'lost' : null
}

/** Null: the job cannot run and has failed. */
async function takeJob(app: App, id: number, asking: Asking): Promise<Picked | 'lost' | null> {
  const found = await findWaiting(app, id)
  if (!found) return 'lost'
  const { job, project } = found
  const dependencies = await dependenciesOf(app, job)
  const reason =
    unfitReason(found, asking.features) ?? (lacksArchive(dependencies) ? 'missing_dependency_failure' : null)
  if (reason !== null) {
    await dropJob(app, job, { reason })
    return null
  }
  const { runner, manager_id } = asking
  const own = optionsOf(job).timeout ?? project.build_timeout
  const timeout = runner.maximum_timeout === null ? own : Math.min(own, runner.maximum_timeout)
  const taken = { runner_id: runner.id, manager_id, timeout, started_at: timestamp(app.clock) }
  const handed = { ...found, job: { ...job, ...taken }, runner, dependencies }
  const { body, variables } = await presentWithRef(app, handed).catch(async (error: unknown) => {
    await dropJob(app, job, { reason: 'data_integrity_failure' })
    throw error
  })
  // A deployment gets a number, and other jobs of the pipeline may wait for that lock.
  const isUnderWay = found.pipeline.status === 'running' && job.environment_id === null
  const handover: Handover = { job, taken, runner, masks: masksIn(variables) }
  const isTaken = await (isUnderWay ? handOverOfRunning : handOver)(app, handover)
  return isTaken ? { id, job: body } : 'lost'
}

interface Handover {
  readonly job: Job
  readonly taken: Beginning
  readonly runner: Runner
  readonly masks: readonly string[]
}

const handOver = (app: App, { job, taken, runner, masks }: Handover): Promise<boolean> =>
  transact(app, async (app) => {
    const running = await runJob(app, job, taken)
    if (running) await beginRun(app, running, runner, masks)
    return running !== null
  })

/** A running pipeline with a pending job stays running, so the pipeline row does not change. */
const handOverOfRunning = together(async (app: TransactionApp, handovers: readonly Handover[]): Promise<boolean[]> => {
  const started = await startJobs(
    app,
    handovers.map(({ job: { id }, taken }) => ({ ...taken, id })),
  )
  for (const [n, running] of started.entries())
    if (running) await beginRun(app, running, handovers[n]!.runner, handovers[n]!.masks)
  return started.map((running) => running !== null)
})

/**
 * The ref is deleted when a pipeline ends. A user may restart the pipeline at the same moment, so the ref is written
 * again.
 */
async function presentWithRef(app: App, handed: Handed) {
  await keepRef(app, handed)
  return presentJob(app, handed)
}

const kept = new Map<string, Promise<void>>()

/** Writes the ref once for all runners that take jobs of the pipeline at the same time. */
function keepRef(app: App, { project, pipeline: { id, sha } }: Handed): Promise<void> {
  const [dir, ref] = [repositoryDir(app, project), pipelineRef(id)]
  const key = `${dir} ${ref}`
  let under = kept.get(key)
  if (!under) kept.set(key, (under = pointAt(dir, ref, sha).finally(() => kept.delete(key))))
  return under
}

type Found = Pick<Handed, 'job' | 'project' | 'namespace' | 'pipeline' | 'user'>

const pipelineRows = cachedRows('pipelines')

const waitingById = hotQuery((db, p: { id: number }) =>
  db
    .selectFrom('ci_jobs as j')
    .innerJoin('projects as p', 'p.id', 'j.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .innerJoin('pipelines as l', 'l.id', 'j.pipeline_id')
    .leftJoin('users as u', 'u.id', 'j.user_id')
    .selectAll('j')
    .select([
      'p.version as project_version',
      'n.id as namespace_id',
      'n.version as namespace_version',
      'l.version as pipeline_version',
      'u.version as user_version',
    ])
    .where('j.id', '=', p.id)
    .where('j.status', '=', sql.lit('pending'))
    .where('p.deleting', '=', false),
)

async function findWaiting({ db }: App, id: number): Promise<Found | null> {
  const [row] = await waitingById(db, { id })
  if (!row) return null
  const { project_version, namespace_id, namespace_version, pipeline_version, user_version, ...job } = row
  const [projects, namespaces, pipelines, users] = await Promise.all([
    projectRows(db, [{ id: job.project_id, version: project_version }]),
    namespaceRows(db, [{ id: namespace_id, version: namespace_version }]),
    pipelineRows(db, [{ id: job.pipeline_id, version: pipeline_version }]),
    userRows(db, user_version === null ? [] : [{ id: job.user_id!, version: user_version }]),
  ])
  const project = projects.get(job.project_id)
  const namespace = namespaces.get(namespace_id)
  const pipeline = pipelines.get(job.pipeline_id)
  if (!project || !namespace || !pipeline) return null // a row was deleted meanwhile
  return { job, project, namespace, pipeline, user: users.get(job.user_id ?? 0) ?? null }
}

function unfitReason({ job, user }: Found, features: Asking['features']): string | null {
  if (user?.state !== 'active') return 'user_blocked'
  const { artifacts, release, allow_failure, retry, secrets } = optionsOf(job)
  const needs: readonly (readonly [string, boolean])[] = [
    ['upload_multiple_artifacts', Object.keys(artifacts?.reports ?? {}).length > 0],
    ['artifacts_exclude', (artifacts?.exclude.length ?? 0) > 0],
    ['multi_build_steps', release !== null && release !== undefined],
    ['return_exit_code', typeof allow_failure === 'object' || (retry?.exit_codes?.length ?? 0) > 0],
    ['refspecs', job.ref.startsWith('refs/')],
    ['vault_secrets', Object.keys(secrets ?? {}).length > 0],
  ]
  return needs.some(([feature, isNeeded]) => isNeeded && !features[feature]) ? 'runner_unsupported' : null
}
