/** Records of merge requests: related rows are loaded for a whole page at once. */
import type { App, User } from '../../../context.ts'
import { aheadBehind } from '../../../git/history/history.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import { presentOnePipeline } from '../../ci/pipelines/queries.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { projectPaths, relationsOf } from '../../planning/items/load.ts'
import { isSubscribed } from '../../planning/items/participants.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { mergeFacts } from '../mergeability/facts.ts'
import { headPipelinesOf } from '../pipelines/queries.ts'
import { mayMergeInto } from '../../repository/repositories/rights.ts'
import {
  presentDetail,
  presentMergeRequest,
  presentSimple,
  type LoadedMergeRequest,
  type MergeRequestDetail,
  type MergeRequestRecord,
} from './entity.ts'
import { mergeRequestKind } from './kind.ts'
import type { MergeRequest } from './model.ts'
import type { MergeRequestSubject } from './policy.ts'
import { stackOf } from './stack.ts'
import { findMergeRequests, isFirstContribution } from './queries.ts'

export interface RecordOptions {
  with_labels_details?: boolean | null | undefined
  view?: 'simple' | null | undefined
  /** The records belong to several projects. */
  isMixed?: boolean
}

export async function presentMergeRequests(
  app: App,
  some: readonly MergeRequest[],
  { with_labels_details, isMixed = false }: RecordOptions = {},
): Promise<MergeRequestRecord[]> {
  const [loaded, users] = await Promise.all([load(app, some), surroundings(app)])
  const around = { users, labelDetails: Boolean(with_labels_details), isMixed }
  return loaded.map((one) => presentMergeRequest(one, around))
}

async function rowsOf(app: App, page: readonly { id: number }[]): Promise<MergeRequest[]> {
  const ids = page.map(({ id }) => id)
  await assertSmallRows(app.db, 'merge_requests', 'description', ids)
  return findMergeRequests(app.db, ids)
}

export const presentMergeRequestsById = async (app: App, page: readonly { id: number }[], input: RecordOptions = {}) =>
  presentMergeRequests(app, await rowsOf(app, page), input)

/** A page of a list, in the requested view. */
export async function presentListed(app: App, page: readonly { id: number }[], input: RecordOptions) {
  if (input.view !== 'simple') return presentMergeRequestsById(app, page, input)
  const found = await rowsOf(app, page)
  const paths = await projectPaths(
    app.db,
    found.map(({ project_id }) => project_id),
  )
  return found.map((one) => presentSimple(one, { url: app.url, path: paths.get(one.project_id) ?? '' }))
}

async function load(app: App, some: readonly MergeRequest[]): Promise<LoadedMergeRequest[]> {
  if (some.length === 0) return []
  const [relations, facts, people] = await Promise.all([
    relationsOf(app, mergeRequestKind, some),
    mergeFacts(app.db, some),
    withUsers(app.db, some, { author: 'author_id', merger: 'merge_user_id', closer: 'closed_by_id' }),
  ])
  return people.map((one) => ({ ...one, ...relations(one), facts: facts.get(one.id)! }))
}

export interface DetailOptions {
  include_diverged_commits_count?: boolean | null | undefined
  include_rebase_in_progress?: boolean | null | undefined
}

/** The record of one merge request. Runs the merge check where the stored result is outdated. */
export async function presentOneMergeRequest(
  app: App,
  viewer: User | null,
  subject: MergeRequestSubject,
  row: MergeRequest = subject.mergeRequest,
  input: DetailOptions = {},
): Promise<MergeRequestDetail> {
  const one = await freshlyChecked(app, row, subject.project)
  const [[loaded], users, subscribed, canMerge, isFirst, stack, diverged, pipeline] = await Promise.all([
    load(app, [one]),
    surroundings(app),
    isSubscribed(app, mergeRequestKind, viewer, one),
    mayMergeInto(app, subject, one.target_branch),
    isFirstContribution(app.db, one),
    stackOf(app.db, one),
    input.include_diverged_commits_count ? divergedCommits(subject.dir, one) : undefined,
    ciPolicy.readPipelines(subject) ? headPipelineOf(app, viewer, subject, one) : null,
  ])
  return presentDetail(
    loaded!,
    { users, labelDetails: false, isMixed: false },
    {
      subscribed,
      canMerge,
      isFirst,
      stack,
      pipeline,
      diverged,
      rebasing: input.include_rebase_in_progress ? false : undefined,
    },
  )
}

async function headPipelineOf(app: App, viewer: User | null, subject: MergeRequestSubject, one: MergeRequest) {
  const found = (await headPipelinesOf(app.db, [one])).get(one.id)
  if (!found) return null
  const project = found.project_id === subject.project.id ? null : await findProjectById(app.db, found.project_id)
  const location = project ? await loadRepositorySubject(app, project, viewer) : subject
  return presentOnePipeline(app, location, found)
}

/** How many commits the target has that the source has not. */
async function divergedCommits(dir: string, { head_sha, target_branch }: MergeRequest): Promise<number> {
  const counted = head_sha === null ? null : await aheadBehind(dir, `refs/heads/${target_branch}`, head_sha)
  return counted?.ahead ?? 0
}
