/** A runner asks for a job: it is given one, or waits until there may be one. */
import { hash } from 'node:crypto'
import type { App } from '../../../context.ts'
import { inTurn } from '../../../lib/turns.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import { dropJob, runJob } from '../jobs/transitions.ts'
import { masksIn } from '../jobs/variables.ts'
import { awaitJobs, queueMark } from '../jobs/waiting.ts'
import { begin } from '../pipelines/create.ts'
import type { Runner } from '../runners/model.ts'
import { dependenciesOf, lacksArchive } from './dependencies.ts'
import { presentJob, type Handed } from './payload.ts'
import { candidates, findWaiting } from './queue.ts'
import { beginRun } from './runs.ts'

/** Below a minute, after which proxies and we ourselves give a silent connection up. */
const HOLD_MS = 50_000

export interface Asking {
  readonly runner: Runner
  readonly manager_id: number | null
  /** What the agent can do. */
  readonly features: Readonly<Record<string, boolean>>
  /** What it was told when there was nothing. */
  readonly last_update: string | null
  readonly gone: AbortSignal
}

export type Answered = { readonly job: object } | { readonly last_update: string; readonly isConflict: boolean }

/** Another one whenever a job has become pending, or the runner was edited. */
const valueFor = async (app: App, { id, updated_at }: Runner): Promise<string> =>
  hash('sha256', `${await queueMark(app)} ${id} ${updated_at}`)

export async function askForJob(app: App, asking: Asking): Promise<Answered> {
  const { gone } = asking
  using vigil = awaitJobs(app, { ms: HOLD_MS, gone })
  const isHeld = asking.last_update === (await valueFor(app, asking.runner))
  for (let { runner } = asking; ;) {
    // Before the queue is looked through: what comes meanwhile is not slept through.
    const last_update = await valueFor(app, runner)
    const picked = runner.active && !gone.aborted ? await pickJob(app, { ...asking, runner }) : null
    if (picked === 'lost') return { last_update, isConflict: true }
    if (picked) return { job: picked }
    if (!isHeld || !(await vigil.news())) return { last_update, isConflict: false }
    const current = await app.db.selectFrom('runners').selectAll().where('id', '=', runner.id).executeTakeFirst()
    if (!current) return { last_update, isConflict: false }
    runner = current
  }
}

/** In one process one after the other: those who look at the same time would all want the same job. */
async function pickJob(app: App, asking: Asking): Promise<object | 'lost' | null> {
  const taken = await inTurn(`ci queue ${storeNumber(app)}`, () => takeJob(app, asking))
  if (!taken || taken === 'lost') return taken
  try {
    // The ref goes when a pipeline ends, which may be the moment somebody has it go on.
    await begin(repositoryDir(app, taken.project), taken.pipeline)
    const { body, variables } = await presentJob(app, taken)
    await beginRun(app, taken.job, masksIn(variables))
    return body
  } catch (error) {
    await dropJob(app, taken.job, { reason: 'data_integrity_failure' })
    throw error
  }
}

const numbers = new WeakMap<object, number>()
let stores = 0
function storeNumber({ store }: App): number {
  const known = numbers.get(store) ?? ++stores
  numbers.set(store, known)
  return known
}

async function takeJob(app: App, asking: Asking): Promise<Handed | 'lost' | null> {
  if (asking.gone.aborted) return null
  let isLost = false
  for await (const { id } of candidates(app, asking.runner)) {
    const job = await findWaiting(app, id)
    const taken = job ? await takeOne(app, job, asking) : 'lost'
    if (taken === 'lost') isLost = true
    else if (taken) return taken
  }
  return isLost ? 'lost' : null
}

/** Null: it cannot be run, and has failed. */
async function takeOne(app: App, job: Job, { runner, manager_id, features }: Asking): Promise<Handed | 'lost' | null> {
  const project = await findProjectById(app.db, job.project_id)
  const pipeline = await app.db.selectFrom('pipelines').selectAll().where('id', '=', job.pipeline_id).executeTakeFirst()
  if (!project || !pipeline) return 'lost'
  const dependencies = await dependenciesOf(app, job)
  const reason =
    (await unfitReason(app, job, features)) ?? (lacksArchive(dependencies) ? 'missing_dependency_failure' : null)
  if (reason !== null) {
    await dropJob(app, job, { reason })
    return null
  }
  const own = optionsOf(job).timeout ?? project.build_timeout
  const timeout = runner.maximum_timeout === null ? own : Math.min(own, runner.maximum_timeout)
  const running = await runJob(app, job, { runner_id: runner.id, manager_id, timeout })
  return running ? { job: running, project, pipeline, runner, dependencies } : 'lost'
}

async function unfitReason(app: App, job: Job, features: Asking['features']): Promise<string | null> {
  const user = job.user_id === null ? null : await findUser(app.db, job.user_id)
  if (user?.state !== 'active') return 'user_blocked'
  const { artifacts, release, allow_failure, retry } = optionsOf(job)
  const needs: readonly (readonly [string, boolean])[] = [
    ['upload_multiple_artifacts', Object.keys(artifacts?.reports ?? {}).length > 0],
    ['artifacts_exclude', (artifacts?.exclude.length ?? 0) > 0],
    ['multi_build_steps', release !== null && release !== undefined],
    ['return_exit_code', typeof allow_failure === 'object' || (retry?.exit_codes?.length ?? 0) > 0],
    ['refspecs', job.ref.startsWith('refs/')],
  ]
  return needs.some(([feature, isNeeded]) => isNeeded && !features[feature]) ? 'runner_unsupported' : null
}
