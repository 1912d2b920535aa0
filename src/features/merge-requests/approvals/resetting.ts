import type { App } from '../../../context.ts'
import { findApprovalSettings } from '../approval-settings/queries.ts'
import type { MergeRequest, ReviewerState } from '../merge-requests/model.ts'

/** Sets the state of those users who are reviewers. */
export async function setReviewers(
  { db }: App,
  id: number,
  users: readonly number[],
  state: ReviewerState,
): Promise<void> {
  if (users.length === 0) return
  await db
    .updateTable('merge_request_reviewers')
    .set({ state })
    .where('merge_request_id', '=', id)
    .where('user_id', 'in', users)
    .execute()
}

/**
 * Call after a push, in its transaction. Deletes approvals, because they were given to older commits. Approvals stay
 * where the push leaves the changes identical to those of the head `unchanged`.
 */
export async function resetApprovals(app: App, locked: MergeRequest, unchanged: string | null): Promise<void> {
  if (unchanged !== null && unchanged === locked.head_sha) return
  const { reset_approvals_on_push } = await findApprovalSettings(app.db, locked.project_id)
  if (!reset_approvals_on_push) return
  const gone = await app.db
    .deleteFrom('merge_request_approvals')
    .where('merge_request_id', '=', locked.id)
    .returning('user_id')
    .execute()
  await setReviewers(
    app,
    locked.id,
    gone.map(({ user_id }) => user_id),
    'unapproved',
  )
}
