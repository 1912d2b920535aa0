import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, forbidden, notFound, unauthenticated } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { signIn } from '../../identity/sessions/service.ts'
import { recordActivities } from '../../planning/events/service.ts'
import { addSystemNotes } from '../../planning/notes/system.ts'
import type { ApprovalSettings } from '../approval-settings/model.ts'
import { findApprovalSettings } from '../approval-settings/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { lockMergeRequest, touchMergeRequest } from '../merge-requests/service.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { refreshSource } from '../versions/refresh.ts'
import { isImpartial } from './policy.ts'
import { approvalsOf, isCommitterOf } from './queries.ts'
import { setReviewers } from './resetting.ts'

export interface ApprovalInput {
  /** The head that the caller reviewed. */
  readonly sha?: string | null | undefined
  readonly approval_password?: string | null | undefined
  /** The IP address of the caller. */
  readonly address: string
}

/** Approves only the head that the caller reviewed: a push in between is refused. */
export async function approveMergeRequest(
  app: App,
  actor: User,
  { mergeRequest: seen, project }: MergeRequestSubject,
  input: ApprovalInput,
): Promise<MergeRequest> {
  const settings = await findApprovalSettings(app.db, project.id)
  if (seen.state !== 'opened') throw unauthenticated()
  const newest = await freshlyChecked(app, await refreshSource(app, seen, project), project)
  const sha = input.sha || seen.head_sha
  if (newest.head_sha !== sha) throw stale()
  if (settings.require_password_to_approve) await assertPassword(app, actor, input)
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, seen.id)
    if (locked.state !== 'opened') throw unauthenticated()
    if (locked.head_sha !== sha || locked.target_branch !== seen.target_branch) throw stale()
    await assertMayApprove(app, actor, locked)
    const { id: merge_request_id } = locked
    const [added] = await app.db
      .insertInto('merge_request_approvals')
      .values({ merge_request_id, user_id: actor.id, created_at: timestamp(app.clock) })
      .onConflict((c) => c.doNothing())
      .returning('user_id')
      .execute()
    if (!added) throw unauthenticated() // already approved
    await tell(app, actor, locked, 'approved')
    await recordActivities(app, [
      {
        project_id: locked.project_id,
        author_id: actor.id,
        kind: 'merge_request.approved',
        merge_request_id: locked.id,
      },
    ])
    const complete = (await leftOf(app, locked)) === 0
    await emit(app, 'merge_request.approved', { id: locked.id, project_id: locked.project_id, by: actor.id, complete })
    return lockMergeRequest(app, locked.id)
  })
}

const stale = () => conflict('SHA does not match HEAD of source branch')

const leftOf = async ({ db }: App, one: MergeRequest) => (await approvalsOf(db, [one])).get(one.id)?.left ?? 0

async function assertMayApprove({ db }: App, actor: User, locked: MergeRequest): Promise<void> {
  const settings = await findApprovalSettings(db, locked.project_id)
  const isCommitter = await isCommitterOf(db, locked.id, actor.id)
  if (!isImpartial(actor.id, locked, settings, { isCommitter })) throw unauthenticated()
}

/** Wrong passwords count like failed sign-ins. */
async function assertPassword(app: App, actor: User, { approval_password, address }: ApprovalInput): Promise<void> {
  if (!approval_password) throw unauthenticated()
  try {
    const { id } = await signIn(app, { login: actor.username, password: approval_password, address })
    if (id !== actor.id) throw unauthenticated()
  } catch (error) {
    // The password was right. The API does not ask for a second factor.
    if (error instanceof Refusal && error.facts['reason'] === 'two_factor') return
    throw error
  }
}

export async function unapproveMergeRequest(app: App, actor: User, { id }: MergeRequest): Promise<MergeRequest> {
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, id)
    if (locked.state !== 'opened') throw unauthenticated()
    const complete = (await leftOf(app, locked)) === 0
    const { numDeletedRows } = await app.db
      .deleteFrom('merge_request_approvals')
      .where('merge_request_id', '=', id)
      .where('user_id', '=', actor.id)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound()
    await tell(app, actor, locked, 'unapproved')
    await emit(app, 'merge_request.unapproved', { id, project_id: locked.project_id, by: actor.id, complete })
    return lockMergeRequest(app, id)
  })
}

async function tell(
  app: TransactionApp,
  actor: User,
  locked: MergeRequest,
  state: 'approved' | 'unapproved',
): Promise<void> {
  const { id: merge_request_id, project_id } = locked
  await setReviewers(app, merge_request_id, [actor.id], state)
  const body = `${state} this merge request`
  await addSystemNotes(app, actor, { project_id, merge_request_id }, [{ action: state, body }])
  await touchMergeRequest(app, merge_request_id)
}

/** Refuses where the project allows no rules of merge requests. */
export function assertOwnRules(settings: ApprovalSettings): void {
  if (settings.disable_overriding_approvers_per_merge_request) throw forbidden()
}

/**
 * Sets the number of approvals that the merge request requires itself. A number up to the project's means the
 * project's.
 */
export async function requireApprovals(
  app: App,
  { mergeRequest, project }: MergeRequestSubject,
  approvals_required: number,
): Promise<MergeRequest> {
  assertOwnRules(await findApprovalSettings(app.db, project.id))
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, mergeRequest.id)
    if (locked.state !== 'opened') throw forbidden()
    const { approvals_before_merge: usual } = project
    await app.db
      .updateTable('merge_requests')
      .set({ approvals_before_merge: usual > 0 && approvals_required > usual ? approvals_required : null })
      .where('id', '=', locked.id)
      .execute()
    await touchMergeRequest(app, locked.id)
    return lockMergeRequest(app, locked.id)
  })
}
