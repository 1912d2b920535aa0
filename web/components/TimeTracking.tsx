/** Time estimate and time spent of issues and merge requests. */
import type { Records } from '../api.ts'
import { text, type Act, type Page } from '../page.ts'
import { ActButton, Button, Field, Form, fold } from './Form.tsx'

type Stats = Records['TimeStats']

export function TimeTracking({ of, mayPlan }: { of: Stats; mayPlan: boolean }) {
  const { time_estimate, total_time_spent, human_time_estimate, human_total_time_spent } = of
  return (
    <>
      {time_estimate + total_time_spent === 0 ? (
        <span class="quiet">No time logged</span>
      ) : (
        <>
          {human_total_time_spent ?? '0h'} spent,{' '}
          {human_time_estimate ? `${human_time_estimate} estimated` : 'no estimate'}
          {time_estimate > 0 && (
            <progress
              class="time-progress"
              max={time_estimate}
              value={Math.min(time_estimate, total_time_spent)}
              aria-label="Time spent compared to estimate"
            />
          )}
        </>
      )}
      {mayPlan && (
        <details class="edit" onReset={fold}>
          <summary>Log time</summary>
          <Form action="spend" class="time-form" resets>
            <Field
              name="duration"
              label="Time spent"
              required
              placeholder="1h 30m"
              hint="For example 1w 2d 3h 30m. Use -1h to subtract."
            />
            <Button>Add</Button>
          </Form>
          <Form action="estimate" class="time-form" resets>
            <Field name="duration" label="Estimate" required value={human_time_estimate} placeholder="3d" />
            <Button>Set</Button>
          </Form>
          <div class="row">
            {time_estimate > 0 && <ActButton action="resetEstimate">Remove estimate</ActButton>}
            {total_time_spent > 0 && (
              <ActButton action="resetSpent" confirm="Delete all logged time?">
                Reset time spent
              </ActButton>
            )}
          </div>
        </details>
      )}
    </>
  )
}

/** `params.iid` names the record. */
export function timeActions(place: 'issues' | 'merge_requests'): NonNullable<Page['actions']> {
  const key = place === 'issues' ? 'issue_iid' : 'merge_request_iid'
  // Both have the same fields; the types are those of issues.
  const at = <R extends string>(rest: R) =>
    `/projects/{id}/${place}/{${key}}/${rest}` as `/projects/{id}/issues/{issue_iid}/${R}`
  const on = ({ params }: Act) => ({ id: params.id!, [key]: params.iid! }) as { id: string; issue_iid: string }
  return {
    async spend(act) {
      await act.api.post(at('add_spent_time'), { ...on(act), duration: text(act.form, 'duration') })
    },
    async estimate(act) {
      await act.api.post(at('time_estimate'), { ...on(act), duration: text(act.form, 'duration') })
    },
    async resetEstimate(act) {
      await act.api.post(at('reset_time_estimate'), on(act))
    },
    async resetSpent(act) {
      await act.api.post(at('reset_spent_time'), on(act))
    },
  }
}
