/**
 * Merging, step by step: write the objects; pass the gate; in one transaction lock the row and record the pending
 * change; move the target if it still has the expected value; update the row. A crash in between leaves the row
 * `locked`. `recovery.ts` then finishes the merge, or unlocks the row once the pending change is abandoned.
 */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound, unauthenticated } from '../../../errors.ts'
import { listCommits } from '../../../git/history/history.ts'
import { transact } from '../../../store/transact.ts'
import { findUser, withUsers } from '../../identity/users/queries.ts'
import { nameFrom } from '../../planning/quick-actions/arguments.ts'
import { findProjectById, pathWithNamespace } from '../../projects/projects/queries.ts'
import { messageFrom, signerOf } from '../../repository/commits/landing.ts'
import { expectChange, type Change } from '../../repository/gate/changes.ts'
import { Overtaken, moveExpected, updateFault, webPusher } from '../../repository/gate/service.ts'
import { withBranchMutex } from '../../repository/gate/branch-mutex.ts'
import type { Pusher, Update } from '../../repository/gate/updates.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { countedApprovals } from '../approvals/queries.ts'
import { findClosing } from '../closing/queries.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { mergeFacts, squashes } from '../mergeability/facts.ts'
import { barsOf, type Gate, type MergeFacts } from '../mergeability/gates.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { lockMergeRequest } from '../merge-requests/service.ts'
import { findTips } from '../versions/service.ts'
import { refreshSource } from '../versions/refresh.ts'
import { buildMerge, type Built } from './build.ts'
import { followMerge } from './effects.ts'
import { finishMerge } from './finish.ts'
import { mergeMessage, squashMessage } from './messages.ts'
import type { Merging } from './model.ts'
import { mayMergeInto } from '../../repository/repositories/rights.ts'

export interface AcceptInput {
  readonly sha?: string | null | undefined
  readonly merge_commit_message?: string | null | undefined
  readonly squash_commit_message?: string | null | undefined
  readonly squash?: boolean | null | undefined
  readonly should_remove_source_branch?: boolean | null | undefined
}

const CANNOT = 'Branch cannot be merged'
export const RETARGETED = 'The target branch was changed'
const stale = () => new Refusal('conflict', 'SHA does not match HEAD of source branch')
const notOpen = () => new Refusal('not_acceptable', 'Method Not Allowed')

/** Checks that depend only on the commits. */
const OF_COMMITS: readonly Gate['name'][] = ['commits', 'conflict', 'rebase']

/** Throws for the first failed check, in the order that the API defines. */
export function assertMergeable(
  facts: MergeFacts,
  { beside: except = [] }: { beside?: readonly Gate['name'][] } = {},
): void {
  const bars = barsOf(facts).filter(({ name }) => !except.includes(name))
  if (bars.some(({ name }) => name === 'open')) throw notOpen()
  if (bars.length === 0) return
  const isOfCommits = bars.every(({ name }) => OF_COMMITS.includes(name))
  throw new Refusal('not_allowed', isOfCommits ? CANNOT : '405 Method Not Allowed')
}

/** The merged row. Where the gate refuses, the unmerged row with the reason. */
export async function acceptMergeRequest(
  app: App,
  actor: User,
  subject: MergeRequestSubject,
  input: AcceptInput,
): Promise<MergeRequest> {
  const { target_branch: branch } = subject.mergeRequest
  if (!(await mayMergeInto(app, subject, branch))) throw unauthenticated()
  try {
    return await withBranchMutex(subject.dir, branch, async (isLate) => {
      const target = isLate ? await reloadSubject(app, actor, subject) : subject
      return mergeNow(app, actor, target, subject.mergeRequest, input)
    })
  } catch (error) {
    // If the project is gone, the failure comes from the removal of its repository.
    if (error instanceof Refusal || (await findProjectById(app.db, subject.project.id))) throw error
    throw notFound('Project')
  }
}

/**
 * Loads the actor and rights again. Auto-merge may have been enabled long ago, and the user may have been blocked or
 * lost the right since.
 */
async function reloadSubject(app: App, { id }: User, { project }: RepositorySubject): Promise<RepositorySubject> {
  const [found, actor] = await Promise.all([findProjectById(app.db, project.id), findUser(app.db, id)])
  if (!found) throw notFound('Project')
  if (actor?.state !== 'active') throw unauthenticated()
  return loadRepositorySubject(app, found, actor)
}

async function mergeNow(
  app: App,
  actor: User,
  target: RepositorySubject,
  { id, target_branch: branch }: MergeRequest,
  input: AcceptInput,
): Promise<MergeRequest> {
  const { one, squash, facts } = await looked(app, target, id, input)
  // The caller agreed to this target branch only.
  if (one.target_branch !== branch) throw new Refusal('conflict', RETARGETED)
  await unlessOvertaken(app, id, () => assertMergeable(facts))
  if (input.sha && input.sha !== one.head_sha) throw stale()
  const { target: tip } = await findTips(app, target.project, one)
  const plan = await planOf(app, actor, target, { ...one, squash }, tip!, input)
  const built = await buildMerge(target.dir, plan)
  if ('fault' in built) return unlessOvertaken(app, id, cannot)
  const update = { ref: `refs/heads/${one.target_branch}`, before: tip!, after: built.commit }
  const pusher = { ...webPusher(actor, target.level), user: actor, merging: true as const }
  const fault = await updateFault(app, pusher, target, [update], { pointers: built.isMixed })
  if (fault) return noteFault(app, one, fault)
  const { locked, change } = await lock(app, pusher, target, { ...one, squash }, built, update, input)
  return land(app, pusher, target, locked, change, update)
}

const MOST_LOOKS = 5

/** Checks again if another process has moved the target meanwhile. */
async function looked(app: App, target: RepositorySubject, id: number, input: AcceptInput) {
  for (let looks = 1; ; looks++) {
    const one = await newest(app, target, id)
    const squash = squashes(target.project.squash_option, input.squash ?? one.squash)
    const facts = (await mergeFacts(app.db, [{ ...one, squash }])).get(id)!
    if (facts.check !== null || looks === MOST_LOOKS) return { one, squash, facts }
  }
}

/** Another request may have merged it during the check: then that is the reason to report. */
async function unlessOvertaken<T>(app: App, id: number, check: () => T): Promise<T> {
  try {
    return check()
  } catch (refusal) {
    await openOne(app, id)
    throw refusal
  }
}

function cannot(): never {
  throw new Refusal('not_allowed', CANNOT)
}

async function openOne(app: App, id: number): Promise<MergeRequest> {
  const [row] = await findMergeRequests(app.db, [id])
  if (!row) throw notFound()
  if (row.state !== 'opened') throw notOpen()
  return row
}

/** The current row, including new commits of the source. */
async function newest(app: App, target: RepositorySubject, id: number): Promise<MergeRequest> {
  const row = await openOne(app, id)
  return freshlyChecked(app, await refreshSource(app, row, target.project), target.project)
}

async function planOf(
  app: App,
  actor: User,
  target: RepositorySubject,
  one: MergeRequest,
  tip: string,
  input: AcceptInput,
) {
  const { project, namespace } = target
  const { issues } = await findClosing(app, actor, target, one)
  const author = one.author_id === null ? null : await findUser(app.db, one.author_id)
  const path = pathWithNamespace(project, namespace)
  const words = {
    source: one.source_branch,
    target: one.target_branch,
    title: one.title,
    description: one.description ?? '',
    closes: issues.map((issue) => nameFrom(target, issue)),
    reference: `${path}!${one.iid}`,
    local: `!${one.iid}`,
    url: pageBelow(`${app.url}/${path}`, `merge_requests/${one.iid}`),
    author: nameOf(author ?? actor),
    merger: nameOf(actor),
    ...(await peopleNamed(app, one)),
    commit: (await listCommits(target.dir, { from: one.head_sha!, not: [tip], limit: 1000 })).at(-1)?.message ?? '',
  }
  return {
    method: project.merge_method,
    squash: one.squash,
    target: tip,
    head: one.head_sha!,
    message: messageFrom(input.merge_commit_message || mergeMessage(words, project.merge_commit_template)),
    squashMessage: messageFrom(input.squash_commit_message || squashMessage(words, project.squash_commit_template)),
    author: signerOf(app, author ?? actor),
    merger: signerOf(app, actor),
  }
}

const nameOf = ({ name, email }: User) => `${name} <${email}>`

async function peopleNamed({ db }: App, { id }: MergeRequest) {
  const reviewers = await db
    .selectFrom('merge_request_reviewers')
    .innerJoin('users', 'users.id', 'user_id')
    .selectAll('users')
    .where('merge_request_id', '=', id)
    .orderBy('users.id')
    .execute()
  const approvals = await withUsers(db, await countedApprovals(db, [id]), { user: 'user_id' })
  const approvers = approvals.map(({ user }) => user).sort((a, b) => a.id - b.id)
  return { approvers: approvers.map(nameOf), reviewers: reviewers.map(nameOf) }
}

async function noteFault({ db }: App, { id }: MergeRequest, merge_error: string): Promise<MergeRequest> {
  const noted = await db
    .updateTable('merge_requests')
    .set({ merge_error })
    .where('id', '=', id)
    .where('state', '=', 'opened')
    .returningAll()
    .executeTakeFirst()
  if (!noted) throw notOpen()
  return noted
}

type Merger = Pusher & { readonly user: User }

/**
 * Locks the merge request: nobody else can merge it, close it or change its head. The pending change is recorded in the
 * same transaction. While it exists, a process may be at work.
 */
async function lock(
  app: App,
  pusher: Merger,
  target: RepositorySubject,
  seen: MergeRequest,
  { commit, mergeCommit, squashCommit }: Built,
  update: Update,
  { should_remove_source_branch }: AcceptInput,
): Promise<{ locked: MergeRequest; change: Change }> {
  const { user: actor } = pusher
  return transact(app, async (app) => {
    const current = await lockMergeRequest(app, seen.id)
    if (current.state !== 'opened') throw notOpen()
    if (current.head_sha !== seen.head_sha || current.target_branch !== seen.target_branch) throw stale()
    // Approvals, threads, statuses and rights may have changed since the first check.
    assertMergeable((await mergeFacts(app.db, [{ ...current, squash: seen.squash }])).get(current.id)!)
    const now = await reloadSubject(app, actor, target)
    if (!(await mayMergeInto(app, now, current.target_branch))) throw unauthenticated()
    const merging: Merging = {
      commit,
      mergeCommit,
      squashCommit,
      by: actor.id,
      at: timestamp(app.clock),
      holder: app.holder,
    }
    const change = await expectChange(app, pusher, { project: target.project, updates: [update] })
    const locked = await app.db
      .updateTable('merge_requests')
      .set({
        state: 'locked',
        merging: JSON.stringify(merging),
        merge_error: null,
        merge_user_id: actor.id,
        ...(should_remove_source_branch !== undefined && { should_remove_source_branch }),
      })
      .where('id', '=', current.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return { locked, change }
  })
}

async function land(
  app: App,
  pusher: Merger,
  target: RepositorySubject,
  locked: MergeRequest,
  change: Change,
  update: Update,
): Promise<MergeRequest> {
  try {
    await moveExpected(app, pusher, target.dir, change, [update])
  } catch (error) {
    // After any other error it is unknown whether the branch has moved.
    if (!(error instanceof Refusal)) throw error
    const unlocked = await unlock(app, locked, error instanceof Overtaken ? null : error.message)
    if (error instanceof Overtaken || !unlocked) throw error
    return unlocked
  }
  try {
    const merged = await finishMerge(app, locked.id)
    await followMerge(app, merged.id)
    return merged
  } catch (error) {
    // A subscriber has finished the merge first, and a user has deleted the merge request since. It was merged all the
    // same.
    if (error instanceof Refusal && error.kind === 'not_found') return asMerged(locked)
    throw error
  }
}

function asMerged(locked: MergeRequest): MergeRequest {
  const { mergeCommit, squashCommit, at } = JSON.parse(locked.merging!) as Merging
  return {
    ...locked,
    state: 'merged',
    merging: null,
    merge_commit_sha: mergeCommit,
    squash_commit_sha: squashCommit,
    merged_at: at,
  }
}

/** Unlocks a merge request whose merge failed. Null if another process has already handled it. */
export async function unlock(
  { db }: App,
  { id, merging }: MergeRequest,
  merge_error: string | null,
): Promise<MergeRequest | null> {
  const unlocked = await db
    .updateTable('merge_requests')
    .set({ state: 'opened', merging: null, merge_user_id: null, merge_error })
    .where('id', '=', id)
    .where('state', '=', 'locked')
    // Not where another merge has locked it since.
    .where('merging', '=', merging)
    .returningAll()
    .executeTakeFirst()
  return unlocked ?? null
}
