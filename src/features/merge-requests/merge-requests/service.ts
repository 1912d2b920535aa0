import { assertRules, rulesOf } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, forbidden, invalid, notFound } from '../../../errors.ts'
import { isFileName } from '../../../git/objects/building.ts'
import { Developer, FeatureDisabled } from '../../../lib/levels.ts'
import { lockName, isOrphan } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { nextIid, transactNumbered } from '../../planning/iids.ts'
import { changesBetween, type ItemChanges } from '../../planning/items/changes.ts'
import { projectReaders } from '../../planning/items/readers.ts'
import { lockItem, tasksOf, touchItem } from '../../planning/items/rows.ts'
import {
  columnsAfter,
  itemTexts,
  plannedFor,
  recordCreation,
  recordUpdate,
  stateAfter,
  stateOf,
  type ItemInput,
} from '../../planning/items/service.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { isProtected } from '../../repository/protected-branches/matching.ts'
import { findProtection } from '../../repository/protected-branches/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject, loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { resetApprovals } from '../approvals/resetting.ts'
import { unchangedSince } from '../approvals/sameness.ts'
import { tryMerge } from '../merge-refs/service.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { addVersion, findTips, takeIn, versionColumns } from '../versions/service.ts'
import type { Measured } from '../versions/measure.ts'
import { followThreads, traceThreads } from '../notes/moving.ts'
import { pointHead } from '../versions/heads.ts'
import { MERGE_REQUEST_FIELDS, mergeRequestNotes, type MergeRequestState } from './changes.ts'
import { isDraft } from './draft.ts'
import { mergeRequestKind } from './kind.ts'
import type { MergeRequest } from './model.ts'
import { findMergeRequests } from './queries.ts'
import { mergeRequestRules } from './rules.ts'

interface Options extends ItemInput {
  reviewer_ids?: readonly number[] | undefined
  remove_source_branch?: boolean | null | undefined
  squash?: boolean | null | undefined
  allow_collaboration?: boolean | null | undefined
}

export interface CreationInput extends Options {
  title: string
  source_branch: string
  target_branch: string
  target_project_id?: number | null | undefined
  approvals_before_merge?: number | null | undefined
}

export interface UpdateInput extends Options {
  target_branch?: string | undefined
}

const textRules = rulesOf(itemTexts)

/** Clients expect these errors as a list under `error`. */
const unprocessable = (text: string) => new Refusal('unprocessable', [text], { as: 'error' })

/** From a branch of this project into a branch of this project or of the project it was forked from. */
export async function createMergeRequest(
  app: App,
  actor: User,
  source: RepositorySubject,
  input: CreationInput,
): Promise<{ created: MergeRequest; target: RepositorySubject }> {
  assertRules(textRules, input)
  const target = await targetOf(app, actor, source, input.target_project_id)
  const { project } = target
  const isSame = project.id === source.project.id
  if (isSame && input.source_branch === input.target_branch)
    throw unprocessable('You can not use same project/branch for source and target')
  const link = {
    source_project_id: source.project.id,
    source_branch: input.source_branch,
    target_branch: input.target_branch,
  }
  const tips = await findTips(app, project, link)
  const { source: head } = tips
  if (head === null) throw unprocessable(`Source branch "${input.source_branch}" does not exist`)
  if (tips.target === null) throw unprocessable(`Target branch "${input.target_branch}" does not exist`)
  const measured = await takeIn(app, project, link, { ...tips, source: head })
  try {
    const allow_collaboration = await effectiveCollaboration(app, actor, project, link, input.allow_collaboration)
    const created = await transactNumbered(app, { project_id: project.id }, 'merge_requests', (app) =>
      insert(app, actor, target, { ...input, allow_collaboration }, link, measured),
    )
    await pointHead(app, target.dir, created)
    const checked = await freshlyChecked(app, created, project)
    await offerMerge(app, actor, target, checked)
    return { target, created: checked }
  } catch (error) {
    if (isOrphan(error)) throw notFound('Project') // deleted meanwhile
    throw error
  }
}

/**
 * Creates the trial merge in advance, so that it can be fetched at once. If that fails, the first request for it
 * creates it.
 */
async function offerMerge(app: App, actor: User, { project, dir }: RepositorySubject, mergeRequest: MergeRequest) {
  if (mergeRequest.check_result !== 'mergeable') return
  await tryMerge(app, actor, { project, dir, mergeRequest }).catch((error: unknown) => {
    app.log.warn({ err: error, merge_request: mergeRequest.id }, 'no commit of what merging would come to')
  })
}

async function targetOf(
  app: App,
  actor: User,
  source: RepositorySubject,
  id: number | null | undefined,
): Promise<RepositorySubject> {
  if (id === null || id === undefined || id === source.project.id) {
    assertEnabled(source.project)
    return source
  }
  const target = await findRepositorySubject(app, String(id), actor)
  if (!target || !projectPolicy.read(target)) throw notFound()
  if (source.project.forked_from_id !== target.project.id)
    throw unprocessable('Source project is not a fork of the target project')
  if (!repositoryPolicy.download(target)) throw forbidden()
  if (target.project.archived) throw forbidden()
  assertEnabled(target.project)
  return target
}

function assertEnabled(project: Project): void {
  if (project.merge_requests_access_level === FeatureDisabled)
    throw unprocessable('Target project has disabled merge requests')
}

async function insert(
  app: TransactionApp,
  actor: User,
  target: RepositorySubject,
  input: CreationInput,
  link: Pick<MergeRequest, 'source_project_id' | 'source_branch' | 'target_branch'>,
  measured: Measured,
): Promise<MergeRequest> {
  const { project } = target
  const { db, clock } = app
  await assertNoTwin(app, { ...link, project_id: project.id })
  const now = timestamp(clock)
  const allowed: Options = target.level >= Developer ? input : {}
  const { labels, milestone } = await plannedFor(app, actor, target, allowed)
  const assignees = await projectReaders(app, mergeRequestRules, target, allowed.assignee_ids ?? [])
  const reviewers = await projectReaders(app, mergeRequestRules, target, allowed.reviewer_ids ?? [])
  const description = input.description ?? null
  const title = input.title.trim()
  const { approvals_before_merge: usual } = project
  const own = input.approvals_before_merge ?? 0
  const created = await db
    .insertInto('merge_requests')
    .values({
      ...link,
      project_id: project.id,
      iid: await nextIid(db, { project_id: project.id }, 'merge_requests'),
      author_id: actor.id,
      title,
      description,
      draft: isDraft(title),
      discussion_locked: null,
      milestone_id: milestone?.id ?? null,
      squash: effectiveSquash(project, input.squash),
      allow_collaboration: input.allow_collaboration ?? false,
      // Where the project requires no approvals, none is required, and a merge request cannot lower the number.
      approvals_before_merge: usual > 0 && own > usual ? own : null,
      force_remove_source_branch: input.remove_source_branch ?? project.remove_source_branch_after_merge,
      should_remove_source_branch: null,
      ...versionColumns(measured),
      check_head: null,
      check_target: null,
      check_result: null,
      check_conflicts: null,
      auto_merge_wish: null,
      merge_user_id: null,
      merge_error: null,
      merge_commit_sha: null,
      squash_commit_sha: null,
      merged_at: null,
      merging: null,
      closed_at: null,
      closed_by_id: null,
      created_at: now,
      updated_at: now,
      ...tasksOf(description),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await addVersion(app, created.id, measured)
  await recordCreation(app, actor, mergeRequestKind, created, { labels, milestone, assignees, reviewers })
  return created
}

const effectiveSquash = ({ squash_option }: Project, requested: boolean | null | undefined): boolean => {
  if (squash_option === 'always') return true
  if (squash_option === 'never') return false
  return requested ?? squash_option === 'default_on'
}

type Ends = Pick<MergeRequest, 'project_id' | 'source_project_id' | 'source_branch' | 'target_branch'>

/**
 * Only one open merge request may exist per pair of branches. The lock serializes creation, and a second request is
 * refused with the title of the first.
 */
export async function assertNoTwin({ db }: TransactionApp, ends: Ends, self = 0): Promise<void> {
  await lockName(db, `merge requests of ${ends.source_project_id} ${ends.source_branch}`)
  const twin = await db
    .selectFrom('merge_requests')
    .select('title')
    .where('source_project_id', '=', ends.source_project_id)
    .where('source_branch', '=', ends.source_branch)
    .where('project_id', '=', ends.project_id)
    .where('target_branch', '=', ends.target_branch)
    .where('state', 'in', ['opened', 'locked'])
    .where('id', '!=', self)
    .executeTakeFirst()
  if (twin)
    throw new Refusal('conflict', [`Cannot Create: This merge request already exists: ${JSON.stringify([twin.title])}`])
}

/**
 * Applies only to an unprotected branch of a fork, where neither project is private and the caller may push to the
 * fork. Otherwise the input is ignored.
 */
async function effectiveCollaboration(
  app: App,
  actor: User,
  target: Project,
  { source_project_id, source_branch }: Pick<MergeRequest, 'source_project_id' | 'source_branch'>,
  requested: boolean | null | undefined,
): Promise<boolean | undefined> {
  if (requested === null || requested === undefined) return undefined
  if (source_project_id === null || source_project_id === target.id) return undefined
  const project = await findProjectById(app.db, source_project_id)
  if (!project || !repositoryPolicy.push(await loadRepositorySubject(app, project, actor))) return undefined
  if (!requested) return false
  if ([project, target].some(({ visibility }) => visibility === 'private')) return undefined
  const rules = await findProtection(app.db, project.id, 'branch')
  return isProtected(rules, source_branch) ? undefined : true
}

/**
 * Labels, assignees and other planning fields need Developer access to the target. For other callers they are ignored.
 */
function permitted({ level }: RepositorySubject, input: UpdateInput): UpdateInput {
  if (level >= Developer) return input
  const { title, description, target_branch, state_event, remove_source_branch, squash } = input
  return { title, description, target_branch, state_event, remove_source_branch, squash }
}

export async function updateMergeRequest(
  app: App,
  actor: User,
  target: RepositorySubject,
  id: number,
  given: UpdateInput,
): Promise<MergeRequest> {
  assertRules(textRules, given)
  const [seen] = await findMergeRequests(app.db, [id])
  if (!seen) throw notFound()
  const { allow_collaboration: shared } = given
  const allow_collaboration = await effectiveCollaboration(app, actor, target.project, seen, shared)
  const input = { ...permitted(target, given), allow_collaboration }
  const measured = await remeasured(app, target, seen, input)
  const unchanged = measured && (await unchangedSince(app, target.dir, seen, measured))
  const moves = measured ? await traceThreads(app, target.dir, seen, measured) : []
  const changed = await transact(app, async (app) => {
    const one = await lockMergeRequest(app, id)
    const was = await stateOf(app, mergeRequestKind, one)
    const is = await nextState(app, actor, target, was, input)
    const isReopened = was.state === 'closed' && is.state === 'opened'
    const isRetargeted = was.target_branch !== is.target_branch
    if (isReopened || isRetargeted) await assertNoTwin(app, { ...one, target_branch: is.target_branch }, id)
    const changes = changesBetween(was, is, MERGE_REQUEST_FIELDS)
    if (Object.keys(changes).length === 0) return one
    const isClosed = was.state === 'opened' && is.state === 'closed'
    // Auto-merge was enabled for the old target.
    const isCalledOff = isRetargeted && one.auto_merge
    const updated = await app.db
      .updateTable('merge_requests')
      .set({
        ...columnsAfter(was, is, actor.id, timestamp(app.clock)),
        draft: isDraft(is.title),
        target_branch: is.target_branch,
        squash: is.squash,
        force_remove_source_branch: is.force_remove_source_branch,
        allow_collaboration: is.allow_collaboration,
        ...(isClosed && NO_AUTO_MERGE),
        ...(isCalledOff && CALLED_OFF),
        ...((isReopened || isRetargeted) && measured && { ...versionColumns(measured), ...UNCHECKED }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if ((isReopened || isRetargeted) && measured)
      await followThreads(app, actor, one, await addVersion(app, id, measured), moves)
    // Approvals were for the old target; a reopened merge request may have other commits.
    if (isReopened || isRetargeted) await resetApprovals(app, one, isRetargeted ? null : unchanged)
    const notes = [...mergeRequestNotes(was, is), ...(isCalledOff ? [CALLED_OFF_NOTE] : [])]
    const all = { ...changes, ...derivedChanges(one, updated) }
    await recordUpdate(app, actor, mergeRequestKind, { before: one, after: updated, was, is, changes: all, notes })
    return updated
  })
  if (measured) await pointHead(app, target.dir, changed)
  return changed
}

/** Derived fields that changed, old and new value. */
const derivedChanges = (was: MergeRequest, is: MergeRequest): ItemChanges => ({
  ...(was.draft !== is.draft && { draft: [was.draft, is.draft] }),
  ...(was.auto_merge !== is.auto_merge && { auto_merge: [was.auto_merge, is.auto_merge] }),
})

export const UNCHECKED = { check_head: null, check_target: null, check_result: null, check_conflicts: null }
export const NO_AUTO_MERGE = { auto_merge: false, auto_merge_wish: null }

/** The columns and the system note of cancelled auto-merge. */
export const CALLED_OFF = { ...NO_AUTO_MERGE, merge_user_id: null, should_remove_source_branch: null }
export const CALLED_OFF_NOTE = { action: 'merge', body: 'canceled the automatic merge' } as const

/** Measures the changes again where the update reopens or retargets. Git runs before the transaction. */
async function remeasured(
  app: App,
  target: RepositorySubject,
  seen: MergeRequest,
  { state_event, target_branch }: UpdateInput,
): Promise<Measured | null> {
  const isReopened = seen.state === 'closed' && state_event === 'reopen'
  const branch = target_branch ?? seen.target_branch
  if (!isReopened && branch === seen.target_branch) return null
  if (seen.state === 'merged') return null
  if (branch !== seen.target_branch && seen.source_project_id === seen.project_id && branch === seen.source_branch)
    throw unprocessable('You can not use same project/branch for source and target')
  if (branch !== seen.target_branch && !isBranchName(branch)) throw invalid({ target_branch: ['is invalid'] })
  const tips = await findTips(app, target.project, { ...seen, target_branch: branch })
  const head = tips.source ?? seen.head_sha
  return head === null ? null : takeIn(app, target.project, seen, { ...tips, source: head })
}

const isBranchName = (name: string) => name.split('/').every(isFileName)

async function nextState(
  app: TransactionApp,
  actor: User,
  target: RepositorySubject,
  was: MergeRequest & MergeRequestState,
  input: UpdateInput,
): Promise<MergeRequestState> {
  const isOver = was.state === 'merged' || was.state === 'locked'
  const { squash, reviewer_ids } = input
  const readers = (ids: readonly number[]) => projectReaders(app, mergeRequestRules, target, ids)
  return {
    ...(await stateAfter(app, actor, target, was, input, readers)),
    reviewers: reviewer_ids ? await readers(reviewer_ids) : was.reviewers,
    target_branch: isOver ? was.target_branch : (input.target_branch ?? was.target_branch),
    squash: squash === undefined || squash === null ? was.squash : effectiveSquash(target.project, squash),
    force_remove_source_branch: input.remove_source_branch ?? was.force_remove_source_branch,
    allow_collaboration: input.allow_collaboration ?? was.allow_collaboration,
  }
}

export const lockMergeRequest = (app: TransactionApp, id: number): Promise<MergeRequest> =>
  lockItem(app, mergeRequestKind, id)
export const touchMergeRequest = (app: TransactionApp, id: number): Promise<void> =>
  touchItem(app, mergeRequestKind, id)

/** Marks a reviewer without a decision as having reviewed. */
export async function markReviewed({ db }: App, { id }: User, mergeRequest: number): Promise<void> {
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: 'reviewed' })
    .where('merge_request_id', '=', mergeRequest)
    .where('user_id', '=', id)
    .where('state', '=', 'unreviewed')
    .execute()
}
