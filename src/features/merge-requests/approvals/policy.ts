import { Developer } from '../../../lib/levels.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import type { ApprovalSettings } from '../approval-settings/model.ts'

/** Whether the user's role allows approval. `isImpartial` checks authors and committers. */
const mayApprove = (s: MergeRequestSubject) => mergeRequestPolicy.participate(s) && s.level >= Developer

/** Abilities for approvals of a merge request. */
export const approvalPolicy = {
  approve: mayApprove,
  /** Change the rules of the merge request and its number of required approvals. */
  askApproval: (s: MergeRequestSubject) => mergeRequestPolicy.plan(s),
}

export interface ApproverState {
  readonly isCommitter: boolean
  readonly hasApproved: boolean
}

/** Whether the user can approve now and has not approved yet. */
export const canApprove = (s: MergeRequestSubject, settings: ApprovalSettings, state: ApproverState): boolean =>
  mayApprove(s) &&
  s.mergeRequest.state === 'opened' &&
  !state.hasApproved &&
  isImpartial(s.viewer!.id, s.mergeRequest, settings, state)

/** Authors and committers cannot approve, unless the project allows it. */
export const isImpartial = (
  user: number,
  { author_id }: { readonly author_id: number | null },
  settings: ApprovalSettings,
  { isCommitter }: Pick<ApproverState, 'isCommitter'>,
): boolean =>
  (settings.merge_requests_author_approval || author_id !== user) &&
  !(settings.merge_requests_disable_committers_approval && isCommitter)
