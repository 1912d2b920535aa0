import type { App } from '../../../context.ts'
import { findApprovalSettings } from '../approval-settings/queries.ts'
import type { MergeRequest, ReviewerState } from '../merge-requests/model.ts'

/** Of those among them who review it. */
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
 * After a push, in the transaction that follows it: what was approved is not what is there now, unless its changes are
 * `unchanged` since the head it had.
 */
export async function resetApprovals(app: App, held: MergeRequest, unchanged: string | null): Promise<void> {
  if (unchanged !== null && unchanged === held.head_sha) return
  const { reset_approvals_on_push } = await findApprovalSettings(app.db, held.project_id)
  if (!reset_approvals_on_push) return
  const gone = await app.db
    .deleteFrom('merge_request_approvals')
    .where('merge_request_id', '=', held.id)
    .returning('user_id')
    .execute()
  await setReviewers(
    app,
    held.id,
    gone.map(({ user_id }) => user_id),
    'unapproved',
  )
}
