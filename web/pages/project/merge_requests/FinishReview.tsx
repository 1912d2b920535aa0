/** Submits a review: publishes all drafts at once, with a decision. */
import type { Records } from '../../../api.ts'
import { Button, Form, Tick, useIsReturned } from '../../../components/Form.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import type { Me } from '../../../page.ts'
import type { Detail } from './Head.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './FinishReview.css'

interface FinishReviewProps {
  one: Detail
  drafts: readonly Records['DraftNote'][]
  approvals: Records['MergeRequestApprovals']
  me: Me | null
}

export function FinishReview({ one, drafts, approvals, me }: FinishReviewProps) {
  const isReviewer = one.reviewers.some(({ id }) => id === me?.id)
  const mayApprove = approvals.user_can_approve && !approvals.require_password_to_approve
  const verdicts = [
    ['reviewed', common.comment, true],
    ['approve', common.approve, mayApprove],
    ['requested_changes', t.requestChanges, isReviewer],
  ] as const
  return (
    <details class="finish-review" open={useIsReturned('submitReview')}>
      <summary class="button" data-kind="main">
        {t.finishReview}
        {drafts.length > 0 && t.pendingComments(drafts.length)}
      </summary>
      <Form action="submitReview" class="card" resets>
        <WritingArea name="body" label={t.summary} lines={3} hasCommands />
        <fieldset class="row">
          <legend class="spoken">{t.decision}</legend>
          {verdicts
            .filter(([, , isOffered]) => isOffered)
            .map(([value, label]) => (
              <label class="row" key={value}>
                <Tick type="radio" name="verdict" value={value} isOn={value === 'reviewed'} /> {label}
              </label>
            ))}
        </fieldset>
        <Button kind="main">{t.submitReview}</Button>
      </Form>
    </details>
  )
}
