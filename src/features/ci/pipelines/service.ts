import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { forbidden, invalid } from '../../../errors.ts'
import { dropRef } from '../../../git/refs/pointing.ts'
import { drain } from '../../../store/draining.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { cloneJob } from '../jobs/cloning.ts'
import { moveJobs } from '../jobs/steps.ts'
import { cancelPipeline } from './cancel.ts'
import { begin, createPipeline, pipelineRef, type PipelineInput } from './create.ts'
import type { Pipeline } from './model.ts'
import { lockPipeline, processLocked } from './process.ts'
import { parseRefName } from './refs.ts'
import { mayRetry } from './rights.ts'

/** Starts a pipeline by hand. The caller gets the reason if no pipeline is created. */
export async function startPipeline(
  app: App,
  actor: User,
  { project }: RepositorySubject,
  input: Pick<PipelineInput, 'ref' | 'variables' | 'inputs'>,
): Promise<Pipeline> {
  const parsed = parseRefName(input.ref)
  if (!parsed) throw invalid({ base: ['Reference not found'] })
  const { pipeline, errors } = await createPipeline(app, { ...input, ...parsed, project, actor, source: 'api' })
  if (!pipeline) throw invalid({ base: [...errors] })
  return pipeline
}

async function assertRuns(app: App, subject: RepositorySubject, pipeline: Pipeline): Promise<void> {
  if (!(await mayRetry(app, subject, { ...pipeline, pipeline_id: pipeline.id }))) throw forbidden()
}

/** Retries failed and canceled jobs, and jobs that were skipped because of them. */
export async function retryPipeline(app: App, subject: RepositorySubject, pipeline: Pipeline): Promise<Pipeline> {
  await assertRuns(app, subject, pipeline)
  await begin(subject.dir, pipeline)
  const user_id = subject.viewer?.id ?? null
  return transact(app, async (app) => {
    await lockPipeline(app, pipeline.id)
    const jobs = await app.db
      .selectFrom('ci_jobs')
      .selectAll()
      .where('pipeline_id', '=', pipeline.id)
      .where('retried', '=', false)
      .where('kind', '!=', 'external')
      .where('status', 'in', ['failed', 'canceled', 'skipped'])
      .orderBy('id')
      .execute()
    for (const job of jobs) if (job.status !== 'skipped') await cloneJob(app, job, { status: 'created', user_id })
    await moveJobs(
      app,
      jobs.flatMap(({ id, status }) => (status === 'skipped' ? id : [])),
      'created',
    )
    return (await processLocked(app, pipeline.id)) ?? pipeline
  })
}

export async function stopPipeline(app: App, subject: RepositorySubject, pipeline: Pipeline): Promise<Pipeline> {
  await assertRuns(app, subject, pipeline)
  return (await cancelPipeline(app, pipeline.id)) ?? pipeline
}

/** Deletes the pipeline with its jobs and their artifacts. */
export async function deletePipeline(
  app: App,
  actor: User,
  { dir }: RepositorySubject,
  pipeline: Pipeline,
): Promise<void> {
  const { id, project_id, sha } = pipeline
  await cancelPipeline(app, id, { isForced: true })
  await drain(app, 'pipelines', id)
  await transact(app, async (app) => {
    await app.db.deleteFrom('pipelines').where('id', '=', id).execute()
    await emit(app, 'pipeline.deleted', { id, project_id, sha, by: actor.id })
  })
  await dropRef(dir, pipelineRef(id))
}

export async function renamePipeline(app: App, { id }: Pipeline, name: string): Promise<Pipeline> {
  await app.db
    .updateTable('pipelines')
    .set({ name, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
  return app.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
