import { Developer } from '../../../lib/levels.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import type { ApprovalSettings } from '../approval-settings/model.ts'

/** Whether it is theirs to approve at all; authors and committers are asked apart. */
const mayApprove = (s: MergeRequestSubject) => mergeRequestPolicy.participate(s) && s.level >= Developer

/** Of a merge request as it is approved. */
export const approvalPolicy = {
  approve: mayApprove,
  /** Rules of its own, and how many approvals it needs. */
  askApproval: (s: MergeRequestSubject) => mergeRequestPolicy.plan(s),
}

export interface ApproverState {
  readonly isCommitter: boolean
  readonly hasApproved: boolean
}

/** Now, and not yet. */
export const canApprove = (s: MergeRequestSubject, settings: ApprovalSettings, state: ApproverState): boolean =>
  mayApprove(s) &&
  s.mergeRequest.state === 'opened' &&
  !state.hasApproved &&
  isImpartial(s.viewer!.id, s.mergeRequest, settings, state)

/** What is one's own others approve, unless the project says otherwise. */
export const isImpartial = (
  user: number,
  { author_id }: { readonly author_id: number | null },
  settings: ApprovalSettings,
  { isCommitter }: Pick<ApproverState, 'isCommitter'>,
): boolean =>
  (settings.merge_requests_author_approval || author_id !== user) &&
  !(settings.merge_requests_disable_committers_approval && isCommitter)
