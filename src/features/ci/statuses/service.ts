import { z } from 'zod'
import { assertRules, limited, rule, rulesOf } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { keepCommit } from '../../../git/refs/pointing.ts'
import { containingRefs, findTag, resolveRef } from '../../../git/refs/refs.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import type { Db } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { nextIid, transactNumbered } from '../../planning/iids.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { NOTHING_YET } from '../jobs/cloning.ts'
import type { Job, JobStatus } from '../jobs/model.ts'
import { announceJobs } from '../jobs/steps.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { lockPipeline, processLocked } from '../pipelines/process.ts'
import { isProtectedRef } from '../pipelines/rights.ts'

type State = 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped'

export interface StatusInput {
  readonly state: State
  readonly ref?: string | null | undefined
  readonly name?: string | null | undefined
  readonly context?: string | null | undefined
  readonly target_url?: string | null | undefined
  readonly description?: string | null | undefined
  readonly coverage?: number | null | undefined
  readonly pipeline_id?: number | null | undefined
}

/** Tools report repeatedly. A report updates an unfinished status, and replaces a finished one by a new one. */
export async function reportStatus(
  app: App,
  author: User,
  subject: RepositorySubject,
  commit: Commit,
  input: StatusInput,
): Promise<Job> {
  assertRules(statusRules, { ...input, name: nameFrom(input) })
  const ref = input.ref || (await firstBranchWith(subject, commit))
  const isTag =
    (await resolveRef(subject.dir, `refs/heads/${ref}`)) === null && (await findTag(subject.dir, ref)) !== null
  const location = { project_id: subject.project.id, sha: commit.id, ref, tag: isTag }
  const isProtected = await isProtectedRef(app, subject.project.id, location)
  const write = async (app: TransactionApp) => {
    await lockName(app.db, `status ${location.project_id} ${location.sha} ${ref}`)
    const pipeline = await pipelineFor(app, author, { ...location, protected: isProtected }, input)
    await lockPipeline(app, pipeline.id)
    const status = await writeStatus(app, author, pipeline, input)
    await announceJobs(app, [status])
    await processLocked(app, pipeline.id)
    return status
  }
  const status = (await pipelineOf(app.db, location, input))
    ? await transact(app, write)
    : await transactNumbered(app, { project_id: location.project_id }, 'pipelines', write)
  await keepCommit(subject.dir, commit.id)
  return status
}

type Location = Pick<Pipeline, 'project_id' | 'sha' | 'ref' | 'tag' | 'protected'>

const nameFrom = ({ name, context }: StatusInput) => name || context || 'default'

async function firstBranchWith({ dir }: RepositorySubject, { id }: Commit): Promise<string> {
  const [first] = await containingRefs(dir, id, 'branch')
  if (!first) throw notFound('References for commit')
  return first.name
}

/** The newest pipeline of the commit and the ref. */
const pipelineOf = (
  db: Db,
  { project_id, sha, ref }: Pick<Location, 'project_id' | 'sha' | 'ref'>,
  { pipeline_id }: StatusInput,
): Promise<Pipeline | undefined> =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('source', '!=', 'parent_pipeline')
    .$if(Boolean(pipeline_id), (query) => query.where('id', '=', pipeline_id!))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The newest pipeline of the commit and the ref, or a new one. */
async function pipelineFor(
  app: TransactionApp,
  author: User,
  location: Location,
  input: StatusInput,
): Promise<Pipeline> {
  const known = await pipelineOf(app.db, location, input)
  if (known) return known
  const { project_id } = location
  if (input.pipeline_id) throw notFound('Pipeline')
  const now = timestamp(app.clock)
  return app.db
    .insertInto('pipelines')
    .values({
      ...location,
      iid: await nextIid(app.db, { project_id }, 'pipelines'),
      source: 'external',
      status: 'created',
      before_sha: NO_OBJECT,
      name: null,
      yaml_errors: null,
      user_id: author.id,
      merge_request_id: null,
      trigger_id: null,
      schedule_id: null,
      bridge_id: null,
      auto_canceled_by_id: null,
      merge_request_variables: null,
      on_new_commit: 'conservative',
      on_job_failure: 'none',
      coverage: null,
      duration: null,
      started_at: null,
      finished_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** After all stages that a configuration can name. */
const EXTERNAL = { stage: 'external', stage_position: 1_000_000 } as const

async function writeStatus(app: App, author: User, pipeline: Pipeline, input: StatusInput): Promise<Job> {
  const known = await latestOf(app, pipeline, nameFrom(input))
  const open = known.find(({ status, user_id }) => user_id === author.id && isOpen(status))
  if (open) return changeStatus(app, open, input)
  const ids = known.map(({ id }) => id)
  if (ids.length > 0) await app.db.updateTable('ci_jobs').set({ retried: true }).where('id', 'in', ids).execute()
  const now = timestamp(app.clock)
  const { project_id, ref, tag, sha } = pipeline
  return app.db
    .insertInto('ci_jobs')
    .values({
      ...NOTHING_YET,
      ...EXTERNAL,
      kind: 'external',
      project_id,
      pipeline_id: pipeline.id,
      name: nameFrom(input),
      status: input.state,
      when: 'on_success',
      allow_failure: false,
      interruptible: false,
      needs: null,
      tags: '[]',
      options: null,
      ref,
      tag,
      sha,
      protected: pipeline.protected,
      user_id: author.id,
      environment_id: null,
      resource_group_id: null,
      token_digest: null,
      token_sealed: null,
      failure_reason: input.state === 'failed' ? 'api_failure' : null,
      target_url: input.target_url || null,
      description: input.description ?? null,
      coverage: input.coverage ?? null,
      created_at: now,
      updated_at: now,
      queued_at: now,
      started_at: input.state === 'running' ? now : null,
      finished_at: isOpen(input.state) ? null : now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const isOpen = (state: JobStatus) => state === 'pending' || state === 'running'

const latestOf = (app: App, { id }: Pipeline, name: string) =>
  app.db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('pipeline_id', '=', id)
    .where('kind', '=', 'external')
    .where('name', '=', name)
    .where('retried', '=', false)
    .execute()

const EVENTS: Record<State, string> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
  skipped: 'skip',
}

async function changeStatus(app: App, known: Job, input: StatusInput): Promise<Job> {
  const event = EVENTS[input.state]
  const isOnward = input.state === 'running' ? known.status === 'pending' : input.state !== 'pending'
  // Clients recognize by this exact text that they have already reported the status.
  if (!isOnward) {
    const text = `Cannot transition status via :${event} from :${known.status} (Reason(s): Status cannot transition via "${event}")`
    throw new Refusal('bad_request', text)
  }
  const now = timestamp(app.clock)
  return app.db
    .updateTable('ci_jobs')
    .set({
      status: input.state,
      target_url: input.target_url || known.target_url,
      description: input.description ?? known.description,
      coverage: input.coverage ?? known.coverage,
      updated_at: now,
      ...(input.state === 'failed' && { failure_reason: 'api_failure' }),
      ...(isOpen(input.state) ? { started_at: now } : { finished_at: now }),
    })
    .where('id', '=', known.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

const line = limited(z.string(), 255, { last: true })

const statusRules = rulesOf({
  name: line,
  ref: line,
  description: line,
  target_url: line.check(rule((url) => url === '' || isWebAddress(url), 'must be a valid URL')),
})
