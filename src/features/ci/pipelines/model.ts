import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { JobStatus } from '../jobs/model.ts'

export const PIPELINE_SOURCES = [
  'push',
  'web',
  'api',
  'trigger',
  'schedule',
  'external',
  'pipeline',
  'parent_pipeline',
  'merge_request_event',
  'chat',
] as const
export type PipelineSource = (typeof PIPELINE_SOURCES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    pipelines: {
      id: Generated<number>
      project_id: number
      iid: number
      source: PipelineSource
      status: JobStatus
      /** The short name of a branch or a tag, or `refs/merge-requests/1/head`. */
      ref: string
      tag: boolean
      sha: string
      /** For a trial merge of a merge request: the heads of the two branches. */
      source_sha: string | null
      target_sha: string | null
      before_sha: string
      /** Whether the ref was protected when the pipeline was created. */
      protected: boolean
      name: string | null
      yaml_errors: string | null
      user_id: number | null
      merge_request_id: number | null
      trigger_id: number | null
      schedule_id: number | null
      /** The job of another pipeline that created this one. */
      bridge_id: number | null
      /** Set together with `bridge_id`: the first pipeline of the chain. */
      root_id: number | null
      auto_canceled_by_id: number | null
      /** Variables about the pipeline's merge request, or about open merge requests from its branch, as JSON. */
      merge_request_variables: string | null
      on_new_commit: 'conservative' | 'interruptible' | 'none'
      on_job_failure: 'none' | 'all'
      coverage: number | null
      /** In seconds, once the pipeline has ended. */
      duration: number | null
      started_at: string | null
      finished_at: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    pipeline_marks: { cause: string; made_at: string }
    pipeline_variables: {
      id: Generated<number>
      pipeline_id: number
      key: string
      value_sealed: string
      variable_type: 'env_var' | 'file'
      raw: boolean
    }
  }
  interface Events {
    /** A pipeline was created, or its status changed. */
    'pipeline.changed': { id: number; project_id: number; sha: string; status: JobStatus }
    'pipeline.deleted': { id: number; project_id: number; sha: string; by: number }
  }
}

export type Pipeline = Row<'pipelines'>
