import { pageBelow } from '../../../lib/net/page-below.ts'
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { rowsById } from '../../../store/rows.ts'
import { isLive } from '../../ci/jobs/artifacts.ts'
import { detailedStatus, waitOf } from '../../ci/pipelines/entity.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import { mergeFacts } from '../../merge-requests/mergeability/facts.ts'
import { detailedMergeStatus, mergeStatus } from '../../merge-requests/mergeability/gates.ts'
import { findMergeRequests } from '../../merge-requests/merge-requests/queries.ts'
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
import { source, projectMessage, type Complete } from './message.ts'
import { hookCommit, hookUsersById, findProjectInNamespace, rowTime, shortProject, type HookUser } from './shared.ts'

/** The creation of a pipeline sends no message, only later changes of its status. */
async function pipelineMessage(app: App, { id, status }: { id: number; status: string }): Promise<EventMessage[]> {
  if (status === 'created') return []
  const pipeline = await app.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst()
  const at = pipeline && (await findProjectInNamespace(app, pipeline.project_id))
  if (!at || (await blockedAmong(app, [pipeline.user_id])).has(pipeline.user_id)) return []
  const project = shortProject(app, at)
  const jobs = await jobsOf(app, id)
  const people = await hookUsersById(app, [pipeline.user_id, ...jobs.map(({ user_id }) => user_id)])
  const url = pageBelow(project.web_url, `pipelines/${id}`)
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      ...attributesOf(pipeline, url),
      detailed_status: detailedStatus({ status: pipeline.status, hasWarnings: jobs.some(isWarning) }, url).label,
      stages: [...new Set(jobs.map(({ stage }) => stage))],
      variables: await variablesOf(app, pipeline),
    },
    merge_request: await mergeRequestOf(app, pipeline),
    user: people.get(pipeline.user_id) ?? null,
    project,
    commit: null,
    ...(await sourcePipeline(app, pipeline)),
    builds: await buildsOf(app, jobs, people),
  }
  const { project_id } = pipeline
  return [projectMessage({ kind: 'pipeline', switch: 'pipeline_events', project_id, body, complete: false })]
}

const attributesOf = (pipeline: Pipeline, url: string) => ({
  id: pipeline.id,
  iid: pipeline.iid,
  name: pipeline.name,
  ref: pipeline.ref,
  tag: pipeline.tag,
  sha: pipeline.sha,
  before_sha: pipeline.before_sha,
  source: pipeline.source,
  status: pipeline.status,
  created_at: rowTime(pipeline.created_at),
  finished_at: rowTime(pipeline.finished_at),
  duration: pipeline.duration,
  queued_duration: waitOf(pipeline),
  url,
})

/** The newest job of each name, in one query. Options are read only for jobs that deploy. */
const jobsOf = ({ db }: App, pipeline: number) =>
  db
    .selectFrom('ci_jobs')
    .select(['id', 'kind', 'stage', 'name', 'status', 'when', 'allow_failure', 'failure_reason'])
    .select(['user_id', 'runner_id', 'environment_id'])
    .select(['created_at', 'queued_at', 'started_at', 'finished_at'])
    .select(sql<string | null>`case when environment_id is not null then options end`.as('options'))
    .where('pipeline_id', '=', pipeline)
    .where('retried', '=', false)
    .orderBy('stage_position')
    .orderBy('id')
    .execute()

type ListedJob = Awaited<ReturnType<typeof jobsOf>>[number]

const isWarning = ({ allow_failure, status }: ListedJob) => allow_failure && ['failed', 'canceled'].includes(status)

async function buildsOf(app: App, all: readonly ListedJob[], people: Map<number | null, HookUser>) {
  const jobs = all.filter(({ kind }) => kind === 'job')
  const runners = await rowsById(
    app.db,
    'runners',
    jobs.map(({ runner_id }) => runner_id),
  )
  const environments = await rowsById(
    app.db,
    'environments',
    jobs.map(({ environment_id }) => environment_id),
  )
  const archives = await archivesOf(app, jobs)
  const now = timestamp(app.clock)
  return jobs.map((job) => ({
    id: job.id,
    stage: job.stage,
    name: job.name,
    status: job.status,
    created_at: rowTime(job.created_at),
    started_at: rowTime(job.started_at),
    finished_at: rowTime(job.finished_at),
    duration: durationOf(job, now),
    queued_duration: queuedFor(job, now),
    failure_reason: failureOf(job),
    when: job.when,
    manual: job.when === 'manual',
    allow_failure: job.allow_failure,
    user: people.get(job.user_id) ?? null,
    runner: hookRunner(runners.get(job.runner_id)),
    artifacts_file: archives.get(job.id) ?? { filename: null, size: null },
    environment: hookEnvironment(environments.get(job.environment_id), job),
  }))
}

async function archivesOf(app: App, jobs: readonly ListedJob[]) {
  if (jobs.length === 0) return new Map<number, { filename: string; size: number }>()
  const ids = idList(
    app.db,
    jobs.map(({ id }) => id),
  )
  const found = await app.db
    .selectFrom('ci_artifacts')
    .select(['job_id', 'filename', 'size'])
    .where(inIdList(app.db, 'job_id', ids))
    .where('file_type', '=', 'archive')
    .where(isLive(app))
    .execute()
  return new Map(found.map(({ job_id, filename, size }) => [job_id, { filename, size }]))
}

/** Only variables given when the pipeline was created. Variables of projects and groups are never sent. */
async function variablesOf({ db, vault }: App, { id }: Pipeline) {
  const rows = await db
    .selectFrom('pipeline_variables')
    .select(['key', 'value_sealed'])
    .where('pipeline_id', '=', id)
    .orderBy('id')
    .execute()
  return rows.map(({ key, value_sealed }) => ({ key, value: vault.open(value_sealed) }))
}

async function mergeRequestOf(app: App, { merge_request_id }: Pipeline) {
  if (merge_request_id === null) return null
  const [one] = await findMergeRequests(app.db, [merge_request_id])
  const at = one && (await findProjectInNamespace(app, one.project_id))
  if (!at) return null
  const facts = (await mergeFacts(app.db, [one])).get(one.id)!
  return {
    id: one.id,
    iid: one.iid,
    title: one.title,
    source_branch: one.source_branch,
    source_project_id: one.source_project_id,
    target_branch: one.target_branch,
    target_project_id: one.project_id,
    state: one.state,
    merge_status: mergeStatus(facts),
    detailed_merge_status: detailedMergeStatus(facts),
    url: pageBelow(shortProject(app, at).web_url, `merge_requests/${one.iid}`),
  }
}

type Body = { readonly object_attributes: { readonly sha: string }; readonly project: { readonly web_url: string } }

export const completePipeline: Complete = async (app, { project_id, body }) => {
  const { object_attributes, project } = body as Body
  const commit = await commitIn(app, project_id, object_attributes.sha)
  return { ...body, commit: commit && hookCommit(commit, project.web_url) }
}

export const pipelineSources = [source('pipeline.changed', ['pipeline_events'], pipelineMessage)]
