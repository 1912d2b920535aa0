import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { JOB_STATUSES } from '../jobs/model.ts'
import { PIPELINE_SOURCES, type Pipeline } from './model.ts'

const listed = {
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  sha: z.string(),
  ref: z.string(),
  status: z.enum(JOB_STATUSES),
  source: z.enum(PIPELINE_SOURCES),
  created_at: timestampOut,
  updated_at: timestampOut,
  web_url: z.string(),
  name: z.string().nullable(),
}

export const ListedPipelineEntity = entity(listed).meta({ id: 'ListedPipeline' })

const DetailedStatusEntity = entity({
  icon: z.string(),
  text: z.string(),
  label: z.string(),
  group: z.string(),
  tooltip: z.string(),
  has_details: z.boolean(),
  details_path: z.string(),
  illustration: z.null(),
  favicon: z.string(),
})

export const PipelineEntity = entity({
  ...listed,
  before_sha: z.string(),
  tag: z.boolean(),
  yaml_errors: z.string().nullable(),
  user: UserSummaryEntity.nullable(),
  started_at: timestampOut.nullable(),
  finished_at: timestampOut.nullable(),
  committed_at: z.null(),
  duration: z.int().nullable(),
  queued_duration: z.int().nullable(),
  coverage: z.string().nullable(),
  detailed_status: DetailedStatusEntity,
}).meta({ id: 'Pipeline' })

export type ListedPipelineRecord = z.infer<typeof ListedPipelineEntity>
export type PipelineRecord = z.infer<typeof PipelineEntity>

export interface LoadedPipeline extends Pipeline {
  readonly user: User | null
  /** Whether a job failed that is allowed to fail. */
  readonly hasWarnings: boolean
}

/** The URL of the project's pages. */
interface Location {
  readonly url: string
}

export function presentListedPipeline(pipeline: Pipeline, { url }: Location): ListedPipelineRecord {
  return {
    id: pipeline.id,
    iid: pipeline.iid,
    project_id: pipeline.project_id,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: pipeline.status,
    source: pipeline.source,
    created_at: pipeline.created_at,
    updated_at: pipeline.updated_at,
    web_url: pageBelow(url, `pipelines/${pipeline.id}`),
    name: pipeline.name,
  }
}

export function presentPipeline(pipeline: LoadedPipeline, location: Location, around: Surroundings): PipelineRecord {
  const { coverage, user } = pipeline
  return {
    ...presentListedPipeline(pipeline, location),
    before_sha: pipeline.before_sha,
    tag: pipeline.tag,
    yaml_errors: pipeline.yaml_errors,
    user: user && presentUserSummary(user, around),
    started_at: pipeline.started_at,
    finished_at: pipeline.finished_at,
    committed_at: null,
    duration: pipeline.duration,
    queued_duration: waitOf(pipeline),
    coverage: coverage === null ? null : coverage.toFixed(2),
    detailed_status: detailedStatus(pipeline, new URL(pageBelow(location.url, `pipelines/${pipeline.id}`)).pathname),
  }
}

/** Whole seconds, because clients decode integers. Null if unknown. */
export const waitOf = ({ created_at, started_at }: Pick<Pipeline, 'created_at' | 'started_at'>): number | null =>
  Math.floor(secondsBetween(created_at, started_at) ?? 0) || null

/** Null if either time is unknown. */
export function secondsBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
}

/** Text and label, for statuses where they differ from the status. */
const WORDS: Record<Pipeline['status'], readonly [string, string]> = {
  created: ['Created', 'created'],
  waiting_for_resource: ['Waiting', 'waiting for resource'],
  preparing: ['Preparing', 'preparing'],
  pending: ['Pending', 'pending'],
  running: ['Running', 'running'],
  success: ['Passed', 'passed'],
  failed: ['Failed', 'failed'],
  canceling: ['Canceling', 'canceling'],
  canceled: ['Canceled', 'canceled'],
  skipped: ['Skipped', 'skipped'],
  manual: ['Blocked', 'waiting for manual action'],
  scheduled: ['Delayed', 'waiting for delayed action'],
}

export function detailedStatus(
  { status, hasWarnings }: Pick<LoadedPipeline, 'status' | 'hasWarnings'>,
  details_path: string,
): z.infer<typeof DetailedStatusEntity> {
  const isWarned = status === 'success' && hasWarnings
  const [text, label] = isWarned ? ['Warning', 'passed with warnings'] : WORDS[status]
  return {
    icon: isWarned ? 'status_warning' : `status_${status}`,
    text,
    label,
    group: isWarned ? 'success-with-warnings' : status.replaceAll('_', '-'),
    tooltip: label,
    has_details: true,
    details_path,
    illustration: null,
    favicon: `/assets/ci_favicons/favicon_status_${status}.png`,
  }
}

export const PipelineVariableEntity = entity({
  key: z.string(),
  value: z.string(),
  variable_type: z.enum(['env_var', 'file']),
  raw: z.boolean(),
}).meta({ id: 'PipelineVariable' })
