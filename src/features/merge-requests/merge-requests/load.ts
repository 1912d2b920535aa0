/** Records of merge requests: related rows are loaded for a whole page at once. */
import type { App, User } from '../../../context.ts'
import { aheadBehind } from '../../../git/history/history.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import { presentOnePipeline } from '../../ci/pipelines/queries.ts'
import { askTogether, type Answers } from '../../../store/lookups.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { joinUsers, surroundings } from '../../identity/users/queries.ts'
import { projectPaths, relationLookups, relationsFrom, usersIn } from '../../planning/items/load.ts'
import { subscribedLookup } from '../../planning/items/participants.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { factLookups, factsFrom } from '../mergeability/facts.ts'
import { protectionLookup } from '../../repository/protected-branches/queries.ts'
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
import { stackLookups } from './stack.ts'
import { findMergeRequests, firstContributionLookup } from './queries.ts'

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

function lookupsOf({ db }: App, some: readonly MergeRequest[]) {
  const named = some.flatMap(({ author_id, merge_user_id, closed_by_id }) => [author_id, merge_user_id, closed_by_id])
  return { ...relationLookups(db, mergeRequestKind, some, named), ...factLookups(db, some) }
}

async function loadedFrom(
  app: App,
  some: readonly MergeRequest[],
  found: Answers<ReturnType<typeof lookupsOf>>,
): Promise<LoadedMergeRequest[]> {
  const users = await usersIn(app, found)
  const relations = relationsFrom(app, found, users)
  const facts = factsFrom(some, found)
  return joinUsers(some, { author: 'author_id', merger: 'merge_user_id', closer: 'closed_by_id' }, users).map(
    (one) => ({ ...one, ...relations(one), facts: facts.get(one.id)! }),
  )
}

async function load(app: App, some: readonly MergeRequest[]): Promise<LoadedMergeRequest[]> {
  return some.length === 0 ? [] : loadedFrom(app, some, await askTogether(app.db, lookupsOf(app, some)))
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
  const found = await askTogether(app.db, {
    ...lookupsOf(app, [one]),
    ...stackLookups(one),
    isFirst: firstContributionLookup(one),
    subscription: subscribedLookup(mergeRequestKind, viewer, one),
    branchRules: protectionLookup(subject.project.id, 'branch'),
  })
  const head = ciPolicy.readPipelines(subject) ? found.pipelines.get(one.id) : undefined
  const [[loaded], users, subscribed, canMerge, diverged, pipeline] = await Promise.all([
    loadedFrom(app, [one], found),
    surroundings(app),
    found.subscription(app),
    mayMergeInto(app, subject, one.target_branch, found.branchRules),
    input.include_diverged_commits_count ? divergedCommits(subject.dir, one) : undefined,
    head ? presentHead(app, viewer, subject, head) : null,
  ])
  return presentDetail(
    loaded!,
    { users, labelDetails: false, isMixed: false },
    {
      subscribed,
      canMerge,
      isFirst: found.isFirst,
      stack: { parent: found.parent, children: found.children },
      pipeline,
      diverged,
      rebasing: input.include_rebase_in_progress ? false : undefined,
    },
  )
}

async function presentHead(app: App, viewer: User | null, subject: MergeRequestSubject, found: Pipeline) {
  const project = found.project_id === subject.project.id ? null : await findProjectById(app.db, found.project_id)
  const location = project ? await loadRepositorySubject(app, project, viewer) : subject
  return presentOnePipeline(app, location, found)
}

/** How many commits the target has that the source has not. */
async function divergedCommits(dir: string, { head_sha, target_branch }: MergeRequest): Promise<number> {
  const counted = head_sha === null ? null : await aheadBehind(dir, `refs/heads/${target_branch}`, head_sha)
  return counted?.ahead ?? 0
}
