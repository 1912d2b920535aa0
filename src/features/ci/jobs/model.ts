import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

/** Of jobs, and of the pipelines they make up; in the order in which they are met. */
export const JOB_STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]
export type JobKind = 'job' | 'bridge' | 'external'
export type JobWhen = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'

declare module '../../../store/database.ts' {
  interface Tables {
    ci_jobs: {
      id: Generated<number>
      /** `bridge`: makes another pipeline. `external`: what a tool reports of a commit. */
      kind: JobKind
      project_id: number
      pipeline_id: number
      name: string
      stage: string
      stage_position: number
      status: JobStatus
      when: JobWhen
      allow_failure: boolean
      /** A newer one of its name stands for it. */
      retried: boolean
      interruptible: boolean
      /** Names of the jobs it waits for, as JSON; null: all of earlier stages. */
      needs: string | null
      /** Names in order, as JSON. */
      tags: string
      /** The rest of what its configuration says, as JSON. */
      options: string | null
      ref: string
      tag: boolean
      sha: string
      protected: boolean
      user_id: number | null
      runner_id: number | null
      manager_id: number | null
      environment_id: number | null
      resource_group_id: number | null
      token_digest: string | null
      token_sealed: string | null
      /** Seconds it may run, known once it has a runner. */
      timeout: number | null
      failure_reason: string | null
      exit_code: number | null
      coverage: number | null
      /** Bytes of its log so far; while it runs they stand in `ci_trace_chunks`, then in a blob. */
      trace_size: Generated<number>
      trace_digest: string | null
      artifacts_expire_at: string | null
      erased_at: string | null
      erased_by_id: number | null
      target_url: string | null
      description: string | null
      /** Of delayed ones: when they start. */
      scheduled_at: string | null
      queued_at: string | null
      started_at: string | null
      finished_at: string | null
      /** When its runner was heard of last. */
      contacted_at: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    /** Jobs that wait for a runner, by trigger. Those of a lane have the same project and tags, and are protected alike. */
    ci_queue: {
      id: Generated<number>
      job_id: number
      project_id: number
      protected: boolean
      /** Names in order, as JSON. */
      tags: string
      lane: string
    }
    ci_trace_chunks: { job_id: number; start: number; content: Buffer }
    ci_artifacts: {
      id: Generated<number>
      job_id: number
      project_id: number
      file_type: string
      file_format: 'zip' | 'gzip' | 'raw'
      filename: string
      size: number
      digest: string
      expire_at: string | null
      /** Kept past that: of the newest pipeline of its ref that succeeded. */
      locked: Generated<boolean>
      created_at: string
    }
    /** What the artifacts of each project weigh (`store/counts.ts`). */
    ci_artifacts_facets: { project_id: number; total: number }
    /** What rows that are gone have named. */
    ci_left_blobs: { id: Generated<number>; content: string; left_at: string | null }
    resource_groups: {
      id: Generated<number>
      project_id: number
      key: string
      process_mode: 'unordered' | 'oldest_first' | 'newest_first' | 'newest_ready_first'
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /** Made, or its status is another. */
    'job.changed': {
      id: number
      kind: JobKind
      project_id: number
      pipeline_id: number
      status: JobStatus
    }
  }
}

export type Job = Row<'ci_jobs'>
export type Artifact = Row<'ci_artifacts'>
