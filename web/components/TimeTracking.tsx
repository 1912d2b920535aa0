/** Time estimate and time spent of issues and merge requests. */
import type { Records } from '../api.ts'
import { text, type Act, type Page } from '../page.ts'
import { ActButton, Button, Field, Form, fold } from './Form.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './TimeTracking.css'

type Stats = Records['TimeStats']

export function TimeTracking({ of, mayPlan }: { of: Stats; mayPlan: boolean }) {
  const { time_estimate, total_time_spent, human_time_estimate, human_total_time_spent } = of
  return (
    <>
      {time_estimate + total_time_spent === 0 ? (
        <span class="quiet">{t.noTimeLogged}</span>
      ) : (
        <>
          {t.timeSpentAndEstimate(
            human_total_time_spent ?? '0h',
            human_time_estimate ? t.estimated(human_time_estimate) : t.noEstimate,
          )}
          {time_estimate > 0 && (
            <progress
              class="time-progress"
              max={time_estimate}
              value={Math.min(time_estimate, total_time_spent)}
              aria-label={t.timeSpentComparedToEstimate}
            />
          )}
        </>
      )}
      {mayPlan && (
        <details class="edit" onReset={fold}>
          <summary>{t.logTime}</summary>
          <Form action="spend" class="time-form" resets>
            <Field name="duration" label={t.timeSpent} required placeholder="1h 30m" hint={t.forExample1w2d3h} />
            <Button>{common.add}</Button>
          </Form>
          <Form action="estimate" class="time-form" resets>
            <Field name="duration" label={t.estimate} required value={human_time_estimate} placeholder="3d" />
            <Button>{t.set}</Button>
          </Form>
          <div class="row">
            {time_estimate > 0 && <ActButton action="resetEstimate">{t.removeEstimate}</ActButton>}
            {total_time_spent > 0 && (
              <ActButton action="resetSpent" confirm={t.deleteAllLoggedTime}>
                {t.resetTimeSpent}
              </ActButton>
            )}
          </div>
        </details>
      )}
    </>
  )
}

/** `params.iid` names the record. */
export function timeActions(kind: 'issues' | 'merge_requests'): NonNullable<Page['actions']> {
  const key = kind === 'issues' ? 'issue_iid' : 'merge_request_iid'
  // Both have the same fields; the types are those of issues.
  const at = <R extends string>(rest: R) =>
    `/projects/{id}/${kind}/{${key}}/${rest}` as `/projects/{id}/issues/{issue_iid}/${R}`
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
