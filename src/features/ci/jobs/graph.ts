/** The graph of a pipeline: stages in order, the needs of each job, and the upstream pipeline. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { findProjectById, webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { ListedPipelineEntity, presentListedPipeline, secondsBetween } from '../pipelines/entity.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { ciPolicy } from '../pipelines/policy.ts'
import { JOB_STATUSES } from './model.ts'
import { needsOf } from './options.ts'

const MOST_JOBS = 5000

export const GraphEntity = entity({
  stages: z.array(
    entity({
      name: z.string(),
      jobs: z.array(
        entity({
          id: z.int(),
          name: z.string(),
          /** `bridge`: a job that creates another pipeline. `external`: a status that a tool reports. */
          kind: z.enum(['job', 'bridge', 'external']),
          status: z.enum(JOB_STATUSES),
          allow_failure: z.boolean(),
          duration: z.number().nullable(),
          /** Names of the jobs that this job waits for. Null: all jobs of earlier stages. */
          needs: z.array(z.string()).nullable(),
          /** The page of the job, or null without a page. */
          web_url: z.string().nullable(),
        }),
      ),
    }),
  ),
  upstream: ListedPipelineEntity.nullable(),
}).meta({ id: 'PipelineGraph' })

type Graph = z.infer<typeof GraphEntity>

type Subject = RepositorySubject & { readonly pipeline: Pipeline }

export async function loadGraph(app: App, subject: Subject, viewer: User | null): Promise<Graph> {
  const now = timestamp(app.clock)
  const url = webUrlOf(app, subject)
  const jobs = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'kind', 'name', 'stage', 'stage_position', 'status', 'allow_failure', 'needs', 'target_url'])
    .select(['started_at', 'finished_at'])
    .where('pipeline_id', '=', subject.pipeline.id)
    .where('retried', '=', false)
    .orderBy('stage_position')
    .orderBy('id')
    .limit(MOST_JOBS)
    .execute()
  const stages = Map.groupBy(jobs, ({ stage_position }) => stage_position)
  return {
    stages: Array.from(stages.values(), (inStage) => ({
      name: inStage[0]!.stage,
      jobs: inStage.map((job) => ({
        id: job.id,
        name: job.name,
        kind: job.kind,
        status: job.status,
        allow_failure: job.allow_failure,
        duration: secondsBetween(job.started_at, job.finished_at ?? now),
        needs: needsOf(job),
        web_url: job.kind === 'job' ? pageBelow(url, `jobs/${job.id}`) : job.target_url,
      })),
    })),
    upstream: await upstreamOf(app, subject, viewer),
  }
}

/** The pipeline whose job created this pipeline, if the viewer may see it. */
async function upstreamOf(app: App, { pipeline, ...subject }: Subject, viewer: User | null) {
  if (pipeline.bridge_id === null) return null
  const upstream = await app.db
    .selectFrom('pipelines')
    .innerJoin('ci_jobs', 'ci_jobs.pipeline_id', 'pipelines.id')
    .selectAll('pipelines')
    .where('ci_jobs.id', '=', pipeline.bridge_id)
    .executeTakeFirst()
  if (!upstream) return null
  if (upstream.project_id === subject.project.id)
    return presentListedPipeline(upstream, { url: webUrlOf(app, subject) })
  const project = await findProjectById(app.db, upstream.project_id)
  const other = project && (await loadRepositorySubject(app, project, viewer))
  if (!other || !ciPolicy.read(other) || !ciPolicy.readPipelines(other)) return null
  return presentListedPipeline(upstream, { url: webUrlOf(app, other) })
}
