/**
 * Quick actions in the description of a merge request and in its notes. Actions that need git run after the
 * transaction.
 */
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { loadEmoji, type FindEmoji } from '../../../lib/text/emoji.ts'
import { splitQuickActions, type QuickAction } from '../../../lib/text/quick-actions.ts'
import { transact } from '../../../store/transact.ts'
import { targetOfItem } from '../../planning/items/kind.ts'
import { usersOfItems } from '../../planning/items/links.ts'
import { projectReaders } from '../../planning/items/readers.ts'
import type { Obeyed } from '../../planning/notes/noteable.ts'
import { peopleIn } from '../../planning/quick-actions/arguments.ts'
import {
  carryOut,
  type Handler,
  type Handlers,
  type Order,
  type CommandContext,
} from '../../planning/quick-actions/orders.ts'
import { idsOf, namesOf, plannedBy, sharedHandlers, type ActionKind } from '../../planning/quick-actions/shared.ts'
import { addAssignedTodos } from '../../planning/todos/service.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { approvalPolicy } from '../approvals/policy.ts'
import { setReviewers } from '../approvals/resetting.ts'
import { approveMergeRequest, unapproveMergeRequest } from '../approvals/service.ts'
import { isDraft, withoutDraft } from '../merge-requests/draft.ts'
import { mergeRequestKind } from '../merge-requests/kind.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequest, findMergeRequests } from '../merge-requests/queries.ts'
import { mergeRequestRules } from '../merge-requests/rules.ts'
import {
  createMergeRequest,
  markReviewed,
  updateMergeRequest,
  type CreationInput,
  type UpdateInput,
} from '../merge-requests/service.ts'
import { acceptWhenReady } from '../merging/auto-merge.ts'
import { rebaseMergeRequest } from '../merging/rebase.ts'
import { mayMergeInto } from '../../repository/repositories/rights.ts'

type Context = CommandContext<MergeRequestSubject, UpdateInput>
type Ordered = Order<UpdateInput>

const LONGEST_TITLE = 255

const KIND: ActionKind<MergeRequestSubject> = {
  ...mergeRequestKind,
  row: ({ mergeRequest }) => mergeRequest,
  plans: mergeRequestPolicy.plan,
  readers: (app, subject, ids) => projectReaders(app, mergeRequestRules, subject, ids),
  copied: ['issue', 'merge_request'],
}

const planned = plannedBy(KIND)<UpdateInput>

const HANDLERS: Handlers<MergeRequestSubject, UpdateInput> = {
  ...sharedHandlers(KIND),
  // Reopening measures the changes of the source again.
  reopen: ({ actor, subject }) =>
    subject.mergeRequest.state === 'closed'
      ? {
          after: (app) => updateMergeRequest(app, actor, subject, subject.mergeRequest.id, { state_event: 'reopen' }),
          changes: { state_event: 'reopen' },
          summary: 'Reopened this merge request.',
        }
      : null,
  target_branch: ({ actor, subject, argument: branch }) =>
    branch === '' || branch === subject.mergeRequest.target_branch
      ? null
      : {
          async after(app) {
            if ((await resolveRef(subject.dir, `refs/heads/${branch}`)) === null) throw new Refusal('not_found')
            await updateMergeRequest(app, actor, subject, subject.mergeRequest.id, { target_branch: branch })
          },
          changes: { target_branch: branch },
          summary: `Set target branch to ${branch}.`,
        },
  draft: (context) => (isDraft(titleOf(context)) ? null : marking(`Draft: ${titleOf(context)}`)),
  ready: (context) => (isDraft(titleOf(context)) ? marking(withoutDraft(titleOf(context))) : null),
  wip: (context) => marking(isDraft(titleOf(context)) ? withoutDraft(titleOf(context)) : `WIP: ${titleOf(context)}`),
  merge: async ({ app, actor, subject }) => {
    const { head_sha: sha, target_branch, state } = subject.mergeRequest
    if (state !== 'opened' || sha === null || !(await mayMergeInto(app, subject, target_branch))) return null
    return {
      after: (app) => merge(app, actor, subject, sha),
      changes: { merge: sha },
      summary: 'Merged this merge request.',
    }
  },
  rebase: ({ actor, subject }) =>
    subject.mergeRequest.state === 'opened'
      ? {
          after: (app) => rebaseMergeRequest(app, actor, subject),
          changes: { rebase: true },
          summary: `Scheduled a rebase of branch ${subject.mergeRequest.source_branch}.`,
        }
      : null,
  approve: ({ actor, subject }) => {
    const { head_sha: sha } = subject.mergeRequest
    if (!approvalPolicy.approve(subject)) return null
    return {
      // A text never contains a password, so approval fails where the project requires one.
      after: (app) => approveMergeRequest(app, actor, subject, { sha, address: '' }),
      changes: { approve: true },
      summary: 'Approved the current merge request.',
    }
  },
  unapprove: ({ actor, subject }) =>
    approvalPolicy.approve(subject)
      ? {
          after: (app) => unapproveMergeRequest(app, actor, subject.mergeRequest),
          changes: { unapprove: true },
          summary: 'Unapproved the current merge request.',
        }
      : null,
  assign_reviewer: planned(async (context) => {
    const users = await peopleIn(context.app, context.actor, context.argument)
    if (users.length === 0) return null
    const before = await reviewing(context)
    const again = users.filter(({ id }) => before.includes(id))
    return {
      ...reviewedBy([...new Set([...before, ...idsOf(users)])], `Requested a review from ${namesOf(users)}.`),
      work: (app) => askAgain(app, context.actor, context.subject.mergeRequest, again),
    }
  }),
  unassign_reviewer: planned(async (context) => {
    const users = await peopleIn(context.app, context.actor, context.argument)
    const before = await reviewing(context)
    const left = context.argument === '' ? [] : before.filter((id) => !idsOf(users).includes(id))
    if (left.length === before.length) return null
    return reviewedBy(left, users.length === 0 ? 'Removed all reviewers.' : `Removed reviewer ${namesOf(users)}.`)
  }),
}

type Publish = (app: App, actor: User) => Promise<void>

const VERDICTS = ['', 'reviewed', 'approve', 'requested_changes']

/** Publishes the drafts of the actor, with an optional decision. */
const submitting =
  (publish: Publish): Handler<MergeRequestSubject, UpdateInput> =>
  ({ actor, subject, argument: verdict }) => {
    const { id, head_sha: sha } = subject.mergeRequest
    if (!VERDICTS.includes(verdict) || (verdict === 'approve' && !approvalPolicy.approve(subject))) return null
    return {
      async after(app) {
        await publish(app, actor)
        if (verdict === 'approve') await approveMergeRequest(app, actor, subject, { sha, address: '' })
        else if (verdict === 'requested_changes') await setReviewers(app, id, [actor.id], verdict)
        else await markReviewed(app, actor, id)
      },
      changes: { submit_review: verdict || 'reviewed' },
      summary: 'Submitted the current review.',
    }
  }

const titleOf = ({ subject, input }: Context) => input.title ?? subject.mergeRequest.title

function marking(requested: string): Ordered | null {
  const title = Array.from(requested).slice(0, LONGEST_TITLE).join('')
  if (title.trim() === '') return null
  const mark = isDraft(title) ? 'draft' : 'ready'
  const summary = mark === 'draft' ? 'Marked this merge request as a draft.' : 'Marked this merge request as ready.'
  return { input: { title }, changes: { wip_event: mark }, summary }
}

/** If the gate refuses, the merge request is not merged, and the action fails. */
async function merge(app: App, actor: User, subject: MergeRequestSubject, sha: string): Promise<void> {
  const { project_id, iid } = subject.mergeRequest
  const current = await findMergeRequest(app, project_id, iid, actor.id)
  if (!current) throw new Refusal('not_found')
  const { state, auto_merge } = await acceptWhenReady(app, actor, { ...subject, mergeRequest: current }, { sha })
  if (state !== 'merged' && !auto_merge) throw new Refusal('not_allowed')
}

const reviewing = async ({ app, subject: { mergeRequest }, input }: Context): Promise<readonly number[]> =>
  input.reviewer_ids ??
  (await usersOfItems(app.db, mergeRequestKind, 'reviewers', [mergeRequest.id])).get(mergeRequest.id) ??
  []

const reviewedBy = (reviewer_ids: readonly number[], summary: string): Ordered => ({
  input: { reviewer_ids },
  changes: { reviewer_ids },
  summary,
})

/** Requests a new review from current reviewers. */
async function askAgain(app: TransactionApp, actor: User, one: MergeRequest, users: readonly User[]): Promise<void> {
  await setReviewers(app, one.id, idsOf(users), 'unreviewed')
  await addAssignedTodos(app, actor, targetOfItem(mergeRequestKind, one), users, 'review_requested')
}

/** For users who may edit the merge request. */
export async function obeyOnMergeRequest(
  app: TransactionApp,
  actor: User,
  subject: MergeRequestSubject,
  commands: readonly QuickAction[],
  emoji: FindEmoji,
  publish?: Publish,
): Promise<Obeyed> {
  const handlers = publish ? { ...HANDLERS, submit_review: submitting(publish) } : HANDLERS
  const update = (app: App, input: UpdateInput) =>
    updateMergeRequest(app, actor, subject, subject.mergeRequest.id, input)
  return carryOut(app, actor, { handlers, subject, emoji, update }, commands)
}

/** Creates a merge request and runs the quick actions of its description. */
export async function createMergeRequestWithCommands(
  app: App,
  actor: User,
  source: RepositorySubject,
  input: CreationInput,
): Promise<{ created: MergeRequest; target: RepositorySubject }> {
  if (typeof input.description !== 'string') return createMergeRequest(app, actor, source, input)
  const { text, commands } = splitQuickActions(input.description)
  const made = await createMergeRequest(app, actor, source, { ...input, description: text })
  if (commands.length === 0) return made
  const subject = { ...made.target, mergeRequest: { ...made.created, assigned: false, reviewing: false } }
  const emoji = await loadEmoji()
  const obeyed = await transact(app, (app) => obeyOnMergeRequest(app, actor, subject, commands, emoji))
  await obeyed.after?.(app)
  const [created = made.created] = await findMergeRequests(app.db, [made.created.id])
  return { ...made, created }
}
