import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { rowsById } from '../../../store/rows.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { childrenOf } from '../pipelines/children.ts'
import { ciProject } from '../pipelines/queries.ts'
import { isLive } from './artifacts.ts'
import { presentBridge, presentJob, type JobRecord, type JobSurroundings, type LoadedJob } from './entity.ts'
import type { Artifact, Job } from './model.ts'

export async function findJob({ db }: Pick<App, 'db'>, project: number, id: number): Promise<Job | null> {
  const found = await db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', project)
    .where('kind', '=', 'job')
    .executeTakeFirst()
  return found ?? null
}

export const job = child(ciProject, {
  key: 'job',
  params: { job_id: id },
  find: (app, { project }, { job_id }) => findJob(app, project.id, job_id),
})

export async function loadJob(app: App, id: number): Promise<Job> {
  return app.db.selectFrom('ci_jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

type Location = Pick<RepositorySubject, 'project' | 'namespace' | 'dir'>

/** Loads the jobs of one project, with one query for each kind of record. */
async function loadJobs(app: App, { dir }: Location, jobs: readonly Job[]): Promise<LoadedJob[]> {
  if (jobs.length === 0) return []
  const shas = [...new Set(jobs.map(({ sha }) => sha))]
  const [users, pipelines, runners, managers, artifacts, commits] = await Promise.all([
    withUsers(app.db, jobs, { user: 'user_id' }),
    rowsById(
      app.db,
      'pipelines',
      jobs.map(({ pipeline_id }) => pipeline_id),
    ),
    rowsById(
      app.db,
      'runners',
      jobs.map(({ runner_id }) => runner_id),
    ),
    rowsById(
      app.db,
      'runner_managers',
      jobs.map(({ manager_id }) => manager_id),
    ),
    artifactsOf(
      app,
      jobs.map(({ id }) => id),
    ),
    repositoryExists(dir).then((exists) => (exists ? findCommits(dir, shas) : [])),
  ])
  const commit = new Map(shas.map((sha, n) => [sha, commits[n] ?? null]))
  return users.flatMap((one) => {
    const pipeline = pipelines.get(one.pipeline_id)
    if (!pipeline) return [] // the pipeline was deleted meanwhile
    return {
      ...one,
      pipeline,
      commit: commit.get(one.sha) ?? null,
      runner: runners.get(one.runner_id) ?? null,
      manager: managers.get(one.manager_id) ?? null,
      artifacts: artifacts.get(one.id) ?? [],
    }
  })
}

async function artifactsOf(app: App, jobs: readonly number[]): Promise<Map<number, Artifact[]>> {
  const rows = await app.db
    .selectFrom('ci_artifacts')
    .selectAll()
    .where(inIdList(app.db, 'job_id', idList(app.db, jobs)))
    .where(isLive(app))
    .orderBy('id')
    .execute()
  return Map.groupBy(rows, ({ job_id }) => job_id)
}

async function jobSurroundings(app: App, location: Location): Promise<JobSurroundings> {
  return {
    users: await surroundings(app),
    url: webUrlOf(app, location),
    isScoped: location.project.job_token_scope_enabled,
    now: timestamp(app.clock),
  }
}

export async function presentJobs(app: App, location: Location, jobs: readonly Job[]): Promise<JobRecord[]> {
  const around = await jobSurroundings(app, location)
  return (await loadJobs(app, location, jobs)).map((one) => presentJob(one, around))
}

export async function presentOneJob(app: App, location: Location, one: Job): Promise<JobRecord> {
  return (await presentJobs(app, location, [one]))[0]!
}

export async function presentBridges(app: App, location: Location, bridges: readonly Job[]) {
  const around = await jobSurroundings(app, location)
  const ids = bridges.map(({ id }) => id)
  const made = await app.db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('pipelines')
    .select(['projects.path', 'namespaces.full_path'])
    .where(inIdList(app.db, 'pipelines.bridge_id', idList(app.db, ids)))
    .orderBy('pipelines.id')
    .execute()
  const byBridge = new Map(made.map((one) => [one.bridge_id, one]))
  return (await loadJobs(app, location, bridges)).map((one) => {
    const downstream = byBridge.get(one.id) ?? null
    const downstreamUrl = downstream ? `${app.url}/${downstream.full_path}/${downstream.path}` : app.url
    return presentBridge({ ...one, downstream, downstreamUrl }, around)
  })
}

/** Finds the job in the newest successful pipeline of the branch or tag, and in no other pipeline. */
export async function jobOfRef(
  app: App,
  project: number,
  ref: string,
  name: string,
  { withChildren = false } = {},
): Promise<Job | null> {
  const { db } = app
  const pipeline = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project)
    .where('ref', '=', ref)
    .where('status', '=', 'success')
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!pipeline) return null
  const children = withChildren ? await childrenOf(db, [pipeline.id]) : []
  const found = await db
    .selectFrom('ci_jobs')
    .selectAll()
    .where(inIdList(db, 'pipeline_id', idList(db, [pipeline.id, ...children])))
    .where('name', '=', name)
    .where('kind', '=', 'job')
    .where('retried', '=', false)
    .orderBy('pipeline_id')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}
