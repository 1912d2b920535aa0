import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Row } from '../../../store/database.ts'
import { UserEntity, presentUser, type Surroundings } from '../../identity/users/entity.ts'
import { CommitEntity, presentCommit } from '../../repository/commits/entity.ts'
import { ListedPipelineEntity, presentListedPipeline, secondsBetween } from '../pipelines/entity.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { ManagerEntity, RunnerEntity, presentManager, presentRunner } from '../runners/entity.ts'
import { JOB_STATUSES, type Artifact, type Job } from './model.ts'

/** Fields that the list of a runner's jobs shows as well. */
const brief = {
  id: z.int(),
  status: z.enum(JOB_STATUSES),
  stage: z.string(),
  name: z.string(),
  ref: z.string(),
  tag: z.boolean(),
  coverage: z.number().nullable(),
  allow_failure: z.boolean(),
  created_at: timestampOut,
  started_at: timestampOut.nullable(),
  finished_at: timestampOut.nullable(),
}

const common = {
  ...brief,
  erased_at: timestampOut.nullable(),
  duration: z.number().nullable(),
  queued_duration: z.number().nullable(),
  user: UserEntity.nullable(),
  commit: CommitEntity.nullable(),
  pipeline: ListedPipelineEntity,
  failure_reason: z.string().optional(),
  web_url: z.string(),
  project: entity({ ci_job_token_scope_enabled: z.boolean() }),
}

const FileEntity = entity({ filename: z.string(), size: z.int() })

export const JobEntity = entity({
  ...common,
  /** Null without an archive that has not expired. */
  artifacts_file: FileEntity.nullable(),
  artifacts: z.array(
    entity({
      file_type: z.string(),
      size: z.int(),
      filename: z.string(),
      file_format: z.enum(['zip', 'gzip', 'raw']).nullable(),
    }),
  ),
  artifacts_expire_at: timestampOut.nullable(),
  download_url: z.null().optional(),
  runner: RunnerEntity.nullable(),
  runner_manager: ManagerEntity.nullable(),
  archived: z.boolean(),
  tag_list: z.array(z.string()),
}).meta({ id: 'Job' })

export const BridgeEntity = entity({ ...common, downstream_pipeline: ListedPipelineEntity.nullable() }).meta({
  id: 'Bridge',
})

export const RunnerJobEntity = entity({
  ...brief,
  project: entity({ id: z.int(), name: z.string(), path: z.string(), path_with_namespace: z.string() }),
}).meta({ id: 'RunnerJob' })

export type JobRecord = z.infer<typeof JobEntity>

export interface LoadedJob extends Job {
  readonly user: User | null
  readonly commit: Commit | null
  readonly pipeline: Pipeline
  readonly runner: Row<'runners'> | null
  readonly manager: Row<'runner_managers'> | null
  /** Artifacts that have not expired. */
  readonly artifacts: readonly Artifact[]
}

export interface JobSurroundings {
  readonly users: Surroundings
  /** The URL of the project's pages. */
  readonly url: string
  readonly isScoped: boolean
  readonly now: string
}

const presentBrief = (job: Job) => ({
  id: job.id,
  status: job.status,
  stage: job.stage,
  name: job.name,
  ref: job.ref,
  tag: job.tag,
  coverage: job.coverage,
  allow_failure: job.allow_failure,
  created_at: job.created_at,
  started_at: job.started_at,
  finished_at: job.finished_at,
})

type RunnerJobRecord = z.infer<typeof RunnerJobEntity>

export const presentRunnerJob = (job: Job, project: RunnerJobRecord['project']): RunnerJobRecord => ({
  ...presentBrief(job),
  project,
})

function presentCommon(job: LoadedJob, { users, url, isScoped, now }: JobSurroundings) {
  return {
    ...presentBrief(job),
    erased_at: job.erased_at,
    duration: secondsBetween(job.started_at, job.finished_at ?? now),
    queued_duration: secondsBetween(job.queued_at, job.started_at ?? (job.status === 'pending' ? now : null)),
    user: job.user && presentUser(job.user, users),
    commit: job.commit && presentCommit(job.commit, { url }),
    pipeline: presentListedPipeline(job.pipeline, { url }),
    ...(job.status === 'failed' && { failure_reason: job.failure_reason ?? 'unknown_failure' }),
    web_url: pageBelow(url, `jobs/${job.id}`),
    project: { ci_job_token_scope_enabled: isScoped },
  }
}

export function presentJob(job: LoadedJob, around: JobSurroundings): JobRecord {
  const archive = job.artifacts.find(({ file_type }) => file_type === 'archive')
  const log = job.trace_size > 0 ? [logOf(job)] : []
  return {
    ...presentCommon(job, around),
    artifacts_file: archive ? { filename: archive.filename, size: archive.size } : null,
    artifacts: [
      ...job.artifacts.map(({ file_type, size, filename, file_format }) => ({
        file_type,
        size,
        filename,
        file_format,
      })),
      ...log,
    ],
    artifacts_expire_at: job.artifacts_expire_at,
    runner: job.runner && presentRunner(job.runner, around.now),
    runner_manager: job.manager && presentManager(job.manager, around.now),
    archived: false,
    tag_list: JSON.parse(job.tags) as string[],
  }
}

const logOf = ({ trace_size: size }: Job) => ({ file_type: 'trace', size, filename: 'job.log', file_format: null })

export function presentBridge(
  job: LoadedJob & { readonly downstream: Pipeline | null; readonly downstreamUrl: string },
  around: JobSurroundings,
): z.infer<typeof BridgeEntity> {
  return {
    ...presentCommon(job, around),
    downstream_pipeline: job.downstream && presentListedPipeline(job.downstream, { url: job.downstreamUrl }),
  }
}
