/** The jobs whose artifacts and variables a job gets: the jobs it names, or all jobs of earlier stages. */
import { sql } from 'kysely'
import { Scope, valuesOf } from '../../../ci/config/variables.ts'
import type { App, User } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findNamespaceById, findProjectById, findProjectSubject } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { isLetIn } from '../job-tokens/queries.ts'
import { seesArtifacts } from '../jobs/downloads.ts'
import { isLive } from '../jobs/artifacts.ts'
import type { Artifact, Job } from '../jobs/model.ts'
import { optionsOf, type JobOptions } from '../jobs/options.ts'
import { jobOfRef } from '../jobs/queries.ts'
import { variablesOf } from '../jobs/variables.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { ciPolicy } from '../pipelines/policy.ts'

type Needed = Pick<Job, 'id' | 'name' | 'status' | 'options'>

export interface Dependency {
  readonly job: Needed
  /** Null: the job has no archive, or the archive has expired. */
  readonly archive: Artifact | null
}

/** A job of another pipeline or project that does not exist, or that the job's user may not read. */
const lost = (name: string): Needed => ({ id: 0, name, status: 'canceled', options: null })
const isLost = ({ id }: Needed) => id === 0

const endedJobs = hotQuery((db, p: { pipeline_id: number; id?: number; before?: number; name?: string }, given) =>
  db
    .selectFrom('ci_jobs')
    .select(['id', 'name', 'status', 'options'])
    .where('pipeline_id', '=', p.pipeline_id)
    .where('kind', '=', sql.lit('job'))
    .where('retried', '=', false)
    .where(sql<boolean>`status in ('success', 'failed', 'canceled')`)
    .$if(given('id'), (query) => query.where('id', '!=', p.id!))
    .$if(given('before'), (query) => query.where('stage_position', '<', p.before!))
    .$if(given('name'), (query) => query.where('name', '=', p.name!))
    .orderBy('stage_position')
    .orderBy('id'),
)

export async function dependenciesOf(app: App, job: Job): Promise<Dependency[]> {
  const jobs = [...(await neededHere(app, job)), ...(await neededElsewhere(app, job))]
  if (jobs.length === 0) return []
  const ids = idList(
    app.db,
    jobs.map(({ id }) => id),
  )
  const archives = await app.db
    .selectFrom('ci_artifacts')
    .selectAll()
    .where(inIdList(app.db, 'job_id', ids))
    .where('file_type', '=', 'archive')
    .where(isLive(app))
    .execute()
  const byJob = new Map(archives.map((archive) => [archive.job_id, archive]))
  return jobs.map((one) => ({ job: one, archive: byJob.get(one.id) ?? null }))
}

async function neededHere({ db }: App, job: Job): Promise<Needed[]> {
  const { needs = null, dependencies = null } = optionsOf(job)
  const names =
    dependencies ?? needs?.flatMap((need) => (need.kind === 'job' && need.artifacts ? [need.job] : [])) ?? null
  const { id, pipeline_id, stage_position } = job
  if (names?.length === 0 || (names === null && stage_position === 0)) return []
  const rows = await endedJobs(db, { pipeline_id, id, ...(names === null && { before: stage_position }) })
  return names === null ? rows : rows.filter(({ name }) => names.includes(name))
}

type Elsewhere = Exclude<NonNullable<JobOptions['needs']>[number], { kind: 'job' }> & { readonly job: string }

/** Needs from related pipelines and from other projects. */
async function neededElsewhere(app: App, job: Job): Promise<Needed[]> {
  const needs = (optionsOf(job).needs ?? []).filter(
    (need): need is Elsewhere => need.kind !== 'job' && need.job !== null && need.artifacts,
  )
  if (needs.length === 0) return []
  const user = job.user_id === null ? null : await findUser(app.db, job.user_id)
  const scope = await scopeOf(app, job, user)
  const found: Needed[] = []
  for (const need of needs) {
    const name = scope.expand(need.job)
    const one =
      need.kind === 'pipeline'
        ? await inFamily(app, job, { pipeline: scope.expand(need.pipeline), name })
        : await inProject(app, job, user, { project: scope.expand(need.project), ref: scope.expand(need.ref), name })
    found.push(one ?? lost(name))
  }
  return found
}

async function scopeOf(app: App, job: Job, user: User | null): Promise<Scope> {
  const [project, pipeline] = await Promise.all([
    findProjectById(app.db, job.project_id),
    findPipeline(app, job.pipeline_id),
  ])
  const namespace = project && (await findNamespaceById(app.db, project.namespace_id))
  if (!namespace || !pipeline) return new Scope([])
  const ground = { job, project, namespace, pipeline, user, runner: null, dependencies: [] }
  return new Scope([valuesOf(await variablesOf(app, ground))])
}

const findPipeline = ({ db }: App, id: number): Promise<Pipeline | undefined> =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst()

async function inFamily(
  app: App,
  { project_id, pipeline_id }: Job,
  { pipeline, name }: { pipeline: string; name: string },
): Promise<Needed | undefined> {
  const other = /^\d{1,15}$/.test(pipeline) ? await findPipeline(app, Number(pipeline)) : undefined
  if (other?.project_id !== project_id) return undefined
  if (!(await isFamily(app, other.id, pipeline_id))) return undefined
  return (await endedJobs(app.db, { pipeline_id: other.id, name }))[0]
}

/** Whether two pipelines have the same root: parents, children and their children. */
const isFamily = async (app: App, one: number, other: number): Promise<boolean> =>
  one === other || (await firstOf(app, one)) === (await firstOf(app, other))

const DEEPEST = 20

async function firstOf({ db }: App, pipeline: number): Promise<number> {
  let id = pipeline
  for (let depth = 0; depth < DEEPEST; depth++) {
    const above = await db
      .selectFrom('pipelines as p')
      .innerJoin('ci_jobs as bridge', 'bridge.id', 'p.bridge_id')
      .select('bridge.pipeline_id')
      .where('p.id', '=', id)
      .where('p.source', '=', 'parent_pipeline')
      .executeTakeFirst()
    if (!above) break
    id = above.pipeline_id
  }
  return id
}

async function inProject(
  app: App,
  job: Job,
  user: User | null,
  { project, ref, name }: { project: string; ref: string; name: string },
): Promise<Needed | null> {
  const target = /^\d+$/.test(project) ? null : await findProjectSubject(app, project, user)
  const found = target && (await jobOfRef(app, target.project.id, ref, name))
  return found && (await mayTakeFrom(app, job, user, found)) ? found : null
}

/** Whether a job, running as this user, may download the artifacts of another job. */
export async function mayTakeFrom(app: App, job: Job, user: User | null, other: Job): Promise<boolean> {
  if (job.project_id === other.project_id && (await isFamily(app, job.pipeline_id, other.pipeline_id))) return true
  const project = await findProjectById(app.db, other.project_id)
  if (!project || !(await isLetIn(app.db, { from: job.project_id, to: project.id }))) return false
  const subject = await loadRepositorySubject(app, project, user)
  return ciPolicy.read(subject) && ciPolicy.readJobs(subject) && seesArtifacts(subject, other)
}

/** Whether a needed archive has been deleted, or the job may not read it. */
export const lacksArchive = (found: readonly Dependency[]): boolean =>
  found.some(({ job, archive }) => {
    if (isLost(job)) return true
    const { artifacts } = optionsOf(job)
    const wasKept = artifacts !== null && artifacts !== undefined && (artifacts.paths.length > 0 || artifacts.untracked)
    return archive === null && job.status === 'success' && wasKept && isExpected(artifacts.when)
  })

const isExpected = (when: string) => when !== 'on_failure'
