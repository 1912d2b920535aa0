import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { rowsById } from '../../../store/rows.ts'
import type { Job, JobKind, JobStatus } from '../../ci/jobs/model.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import {
  blockedAmong,
  commitIn,
  durationOf,
  failureOf,
  hookEnvironment,
  hookRunner,
  queuedFor,
  sourcePipeline,
} from './ci.ts'
import { sourceOfMany, projectMessage, type Complete } from './message.ts'
import {
  hookCommit,
  hookUsersById,
  longRepository,
  findProjectInNamespace,
  rowTime,
  shortProject,
  type HookUser,
  type ProjectInNamespace,
} from './shared.ts'

const SENT: readonly JobStatus[] = ['created', 'pending', 'running', 'success', 'failed', 'canceled']

interface Payload {
  readonly id: number
  readonly kind: JobKind
  readonly status: JobStatus
  readonly project_id: number
}

/**
 * Builds the messages of all jobs of a project that changed at once. A pipeline of thousands needs as few queries as
 * one of two.
 */
async function jobMessages(app: App, payloads: readonly Payload[]): Promise<EventMessage[][]> {
  const sent = payloads.filter(({ kind, status }) => kind === 'job' && SENT.includes(status))
  const at = sent.length === 0 ? null : await findProjectInNamespace(app, sent[0]!.project_id)
  if (!at) return payloads.map(() => [])
  const ground = await groundOf(app, at, sent)
  return payloads.map(({ id }) => {
    const job = ground.jobs.get(id)
    const pipeline = job && ground.pipelines.get(job.pipeline_id)
    if (!pipeline || ground.blocked.has(job.user_id)) return []
    const body = bodyOf(app, ground, job, pipeline)
    const { project_id } = job
    return [projectMessage({ kind: 'build', switch: 'job_events', project_id, body, complete: false })]
  })
}

interface Ground {
  readonly at: ProjectInNamespace
  readonly now: string
  readonly jobs: Map<number, ListedJob>
  readonly pipelines: Map<number | null, Pipeline>
  /** The upstream pipeline, by pipeline. */
  readonly upstream: Map<number, object>
  readonly runners: Map<number | null, Row<'runners'>>
  readonly environments: Map<number | null, Row<'environments'>>
  readonly people: Map<number | null, HookUser>
  readonly blocked: Set<number | null>
}

/** Options may be long: they are read only for jobs that deploy. */
const jobsById = ({ db }: App, ids: readonly number[]) =>
  db
    .selectFrom('ci_jobs')
    .select(['id', 'project_id', 'pipeline_id', 'name', 'stage', 'status', 'allow_failure', 'failure_reason'])
    .select(['ref', 'tag', 'sha', 'user_id', 'runner_id', 'environment_id'])
    .select(['created_at', 'queued_at', 'started_at', 'finished_at'])
    .select(sql<string | null>`case when environment_id is not null then options end`.as('options'))
    .select((eb) =>
      eb
        .selectFrom('ci_jobs as earlier')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .whereRef('earlier.pipeline_id', '=', 'ci_jobs.pipeline_id')
        .whereRef('earlier.name', '=', 'ci_jobs.name')
        .whereRef('earlier.id', '<', 'ci_jobs.id')
        // Written as in the partial index, so that the index is used.
        .where(sql<boolean>`earlier.retried`)
        .as('retries'),
    )
    .where(inIdList(db, 'ci_jobs.id', idList(db, ids)))
    .execute()

type ListedJob = Awaited<ReturnType<typeof jobsById>>[number]

async function groundOf(app: App, at: ProjectInNamespace, payloads: readonly Payload[]): Promise<Ground> {
  const jobs = await jobsById(
    app,
    payloads.map(({ id }) => id),
  )
  const all = <K extends keyof ListedJob>(column: K) => jobs.map((job) => job[column])
  const pipelines = await rowsById(app.db, 'pipelines', all('pipeline_id'))
  const upstream = new Map<number, object>()
  for (const pipeline of pipelines.values()) upstream.set(pipeline.id, await sourcePipeline(app, pipeline))
  return {
    at,
    now: timestamp(app.clock),
    jobs: new Map(jobs.map((job) => [job.id, job])),
    pipelines,
    upstream,
    runners: await rowsById(app.db, 'runners', all('runner_id')),
    environments: await rowsById(app.db, 'environments', all('environment_id')),
    people: await hookUsersById(app, all('user_id')),
    blocked: await blockedAmong(app, all('user_id')),
  }
}

const NOBODY = { id: null, name: null, username: null, avatar_url: null, email: null }

function bodyOf(app: App, { at, now, ...known }: Ground, job: ListedJob, pipeline: Pipeline) {
  return {
    object_kind: 'build',
    ref: job.ref,
    tag: job.tag,
    before_sha: pipeline.before_sha,
    sha: job.sha,
    retries_count: Number(job.retries),
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: job.status,
    ...timesOf('build_', job),
    build_duration: durationOf(job, now),
    build_queued_duration: queuedFor(job, now),
    build_allow_failure: job.allow_failure,
    build_failure_reason: failureOf(job),
    pipeline_id: pipeline.id,
    runner: hookRunner(known.runners.get(job.runner_id)),
    project_id: job.project_id,
    project_name: `${at.namespace.full_name} / ${at.project.name}`,
    user: known.people.get(job.user_id) ?? NOBODY,
    commit: {
      id: pipeline.id,
      name: pipeline.name,
      sha: pipeline.sha,
      message: null,
      author_name: null,
      author_email: null,
      author_url: null,
      status: pipeline.status,
      duration: pipeline.duration,
      ...timesOf('', pipeline),
    },
    repository: longRepository(app, at),
    project: shortProject(app, at),
    environment: hookEnvironment(known.environments.get(job.environment_id), job),
    ...known.upstream.get(pipeline.id),
  }
}

type Times = Pick<Job, 'created_at' | 'started_at' | 'finished_at'>

/** Each time in two formats: as database rows have it, and ISO 8601. */
function timesOf(prefix: 'build_' | '', row: Times) {
  const names =
    prefix === '' ? (['started_at', 'finished_at'] as const) : (['created_at', 'started_at', 'finished_at'] as const)
  return Object.fromEntries(
    names.flatMap((name) => [
      [`${prefix}${name}`, rowTime(row[name])],
      [`${prefix}${name}_iso`, row[name]],
    ]),
  )
}

type Body = { readonly commit: { readonly sha: string } }

export const completeJob: Complete = async (app, { project_id, body }) => {
  const { commit: known } = body as Body
  const commit = await commitIn(app, project_id, known.sha)
  if (!commit) return body
  const { message, author } = hookCommit(commit, '')
  const { name, email } = author
  const reported = {
    message,
    author_name: name,
    author_email: email,
    author_url: await profileOf(app, email),
  }
  return { ...body, commit: { ...known, ...reported } }
}

/** The profile of the user with this confirmed address, else a mail link. */
async function profileOf({ db, url }: App, email: string): Promise<string> {
  const address = email.toLowerCase()
  const user = await db
    .selectFrom('users')
    .select('username')
    .where('email', '=', address)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  const other = await db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select('username')
    .where('emails.email', '=', address)
    .where('emails.confirmed_at', 'is not', null)
    .executeTakeFirst()
  const owner = user ?? other
  return owner ? `${url}/${owner.username}` : `mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`
}

export const jobSources = [sourceOfMany('job.changed', ['job_events'], jobMessages)]
