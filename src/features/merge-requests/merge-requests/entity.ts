import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { ListedPipelineEntity, PipelineEntity, type PipelineRecord } from '../../ci/pipelines/entity.ts'
import { UserSummaryEntity, presentUserSummary } from '../../identity/users/entity.ts'
import {
  itemRecord,
  itemSummary,
  pageOfItem,
  presentItem,
  presentSummary,
  type ItemSurroundings,
  type LoadedItem,
} from '../../planning/items/entity.ts'
import { detailedMergeStatus, mergeStatus, type MergeFacts } from '../mergeability/gates.ts'
import { mergeRequestKind } from './kind.ts'
import { REVIEWER_STATES, type MergeRequest } from './model.ts'
import type { Stack } from './stack.ts'

/** `locked` lasts only while a merge runs; clients know no such state. */
const state = z.enum(['opened', 'closed', 'merged'])

/** Of short records. */
export const mergeRequestSummary = { ...itemSummary, state }

export const presentMergeRequestSummary = (one: MergeRequest) => ({
  ...presentSummary(one),
  state: one.state === 'locked' ? ('opened' as const) : one.state,
})

const record = {
  ...itemRecord,
  state,
  merged_by: UserSummaryEntity.nullable(),
  merge_user: UserSummaryEntity.nullable(),
  merged_at: timestampOut.nullable(),
  target_branch: z.string(),
  source_branch: z.string(),
  source_project_id: z.int().nullable(),
  target_project_id: z.int(),
  reviewers: z.array(UserSummaryEntity),
  draft: z.boolean(),
  work_in_progress: z.boolean(),
  merge_when_pipeline_succeeds: z.boolean(),
  merge_status: z.enum(['unchecked', 'can_be_merged', 'cannot_be_merged']),
  detailed_merge_status: z.string(),
  merge_after: z.null(),
  sha: z.string().nullable(),
  merge_commit_sha: z.string().nullable(),
  squash_commit_sha: z.string().nullable(),
  should_remove_source_branch: z.boolean().nullable(),
  force_remove_source_branch: z.boolean(),
  prepared_at: timestampOut,
  allow_collaboration: z.boolean(),
  allow_maintainer_to_push: z.boolean(),
  reference: z.string(),
  squash: z.boolean(),
  squash_on_merge: z.boolean(),
  has_conflicts: z.boolean(),
  blocking_discussions_resolved: z.boolean(),
  approvals_before_merge: z.int().nullable(),
}

export const MergeRequestEntity = entity(record).meta({ id: 'MergeRequest' })

const stacked = entity({
  iid: z.int(),
  title: z.string(),
  source_branch: z.string(),
  target_branch: z.string(),
})

/** The record of a single merge request. */
export const MergeRequestDetailEntity = entity({
  ...record,
  subscribed: z.boolean(),
  changes_count: z.string().nullable(),
  merge_error: z.string().nullable(),
  diff_refs: entity({
    base_sha: z.string().nullable(),
    head_sha: z.string().nullable(),
    start_sha: z.string().nullable(),
  }).nullable(),
  latest_build_started_at: timestampOut.nullable(),
  latest_build_finished_at: timestampOut.nullable(),
  first_deployed_to_production_at: timestampOut.nullable(),
  /** Null if the viewer may see no pipelines of the project. */
  pipeline: ListedPipelineEntity.nullable(),
  head_pipeline: PipelineEntity.nullable(),
  first_contribution: z.boolean(),
  user: entity({ can_merge: z.boolean() }),
  /** The open merge requests below and above it in a stack. */
  stack: entity({ parent: stacked.nullable(), children: z.array(stacked) }),
  /** Only on request. */
  diverged_commits_count: z.int().optional(),
  rebase_in_progress: z.boolean().optional(),
}).meta({ id: 'MergeRequestDetail' })

export const SimpleMergeRequestEntity = entity({ ...mergeRequestSummary, web_url: z.string() }).meta({
  id: 'SimpleMergeRequest',
})

export const ReviewerEntity = entity({
  user: UserSummaryEntity,
  state: z.enum(REVIEWER_STATES),
  created_at: timestampOut,
}).meta({ id: 'MergeRequestReviewer' })

export type MergeRequestRecord = z.infer<typeof MergeRequestEntity>
export type MergeRequestDetail = z.infer<typeof MergeRequestDetailEntity>
export type ReviewerRecord = z.infer<typeof ReviewerEntity>

export type LoadedMergeRequest = LoadedItem &
  MergeRequest & {
    readonly merger: User | null
    readonly facts: MergeFacts
  }

export function presentMergeRequest(one: LoadedMergeRequest, around: ItemSurroundings): MergeRequestRecord {
  const item = presentItem(mergeRequestKind, one, around)
  const merger = one.merger && presentUserSummary(one.merger, around.users)
  return {
    ...item,
    ...presentMergeRequestSummary(one),
    merged_by: one.state === 'merged' ? merger : null,
    merge_user: merger,
    merged_at: one.merged_at,
    target_branch: one.target_branch,
    source_branch: one.source_branch,
    source_project_id: one.source_project_id,
    target_project_id: one.project_id,
    reviewers: one.reviewers.map((someone) => presentUserSummary(someone, around.users)),
    draft: one.draft,
    work_in_progress: one.draft,
    merge_when_pipeline_succeeds: one.auto_merge,
    merge_status: mergeStatus(one.facts),
    detailed_merge_status: detailedMergeStatus(one.facts),
    merge_after: null,
    sha: one.head_sha,
    merge_commit_sha: one.merge_commit_sha,
    squash_commit_sha: one.squash_commit_sha,
    should_remove_source_branch: one.should_remove_source_branch,
    force_remove_source_branch: one.force_remove_source_branch,
    prepared_at: one.created_at,
    allow_collaboration: one.allow_collaboration,
    allow_maintainer_to_push: one.allow_collaboration,
    reference: item.references.relative,
    squash: one.squash,
    squash_on_merge: one.squash,
    has_conflicts: one.facts.check === 'conflict',
    blocking_discussions_resolved: !one.facts.discussions.required || one.facts.discussions.unresolved === 0,
    approvals_before_merge: one.approvals_before_merge,
  }
}

export const presentSimple = (one: MergeRequest, { path, url }: { path: string; url: string }) => ({
  ...presentMergeRequestSummary(one),
  web_url: pageOfItem(mergeRequestKind, url, path, one.iid),
})

export interface Detail {
  readonly subscribed: boolean
  readonly canMerge: boolean
  readonly isFirst: boolean
  readonly stack: Stack
  readonly pipeline: PipelineRecord | null
  readonly diverged?: number | undefined
  readonly rebasing?: boolean | undefined
}

const listedOf = ({
  id,
  iid,
  project_id,
  sha,
  ref,
  status,
  source,
  created_at,
  updated_at,
  web_url,
  name,
}: PipelineRecord) => ({ id, iid, project_id, sha, ref, status, source, created_at, updated_at, web_url, name })

export function presentDetail(
  one: LoadedMergeRequest,
  around: ItemSurroundings,
  { subscribed, canMerge, isFirst, stack, pipeline, diverged, rebasing }: Detail,
): MergeRequestDetail {
  const { base_sha, head_sha, start_sha } = one
  return {
    ...presentMergeRequest(one, around),
    subscribed,
    changes_count: one.changes_count,
    merge_error: one.merge_error,
    diff_refs: head_sha === null ? null : { base_sha, head_sha, start_sha },
    latest_build_started_at: pipeline?.started_at ?? null,
    latest_build_finished_at: pipeline?.finished_at ?? null,
    first_deployed_to_production_at: null,
    pipeline: pipeline && listedOf(pipeline),
    head_pipeline: pipeline,
    first_contribution: isFirst,
    user: { can_merge: canMerge },
    stack: { parent: stack.parent, children: [...stack.children] },
    ...(diverged !== undefined && { diverged_commits_count: diverged }),
    ...(rebasing !== undefined && { rebase_in_progress: rebasing }),
  }
}
