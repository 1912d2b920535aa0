import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

/** Statuses of jobs and pipelines, in the order in which a job passes through them. */
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
      /** `bridge`: a job that creates another pipeline. `external`: a commit status that a tool reports. */
      kind: JobKind
      project_id: number
      pipeline_id: number
      name: string
      stage: string
      stage_position: number
      status: JobStatus
      when: JobWhen
      allow_failure: boolean
      /** A newer job with the same name replaces this job. */
      retried: boolean
      interruptible: boolean
      /** JSON array of names of the jobs that this job waits for. Null: all jobs of earlier stages. */
      needs: string | null
      /** Sorted names, as JSON. */
      tags: string
      /** The rest of the job's configuration, as JSON. */
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
      /** Timeout in seconds, known once a runner has the job. */
      timeout: number | null
      failure_reason: string | null
      exit_code: number | null
      coverage: number | null
      /** Bytes of the log so far. The log is in `ci_trace_chunks` while the job runs, then in a blob. */
      trace_size: Generated<number>
      trace_digest: string | null
      artifacts_expire_at: string | null
      erased_at: string | null
      erased_by_id: number | null
      target_url: string | null
      description: string | null
      /** The start time of a delayed job. */
      scheduled_at: string | null
      queued_at: string | null
      started_at: string | null
      finished_at: string | null
      /** When the runner last contacted the server about this job. */
      contacted_at: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    /**
     * Jobs that wait for a runner, maintained by triggers. Jobs of a bucket have the same project, the same tags and
     * the same protection.
     */
    ci_queue: {
      id: Generated<number>
      job_id: number
      project_id: number
      protected: boolean
      /** Sorted names, as JSON. */
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
      /** Kept past its expiry, because it belongs to the newest successful pipeline of its ref. */
      locked: Generated<boolean>
      created_at: string
    }
    /** The total artifact size of each project (`store/counts.ts`). */
    ci_artifacts_facets: { project_id: number; total: number }
    /** Blobs that deleted rows referenced. */
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
    /** A job was created, or its status changed. */
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
