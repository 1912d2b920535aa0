/** Bulk edit: changes several rows of a list at once (state, labels, milestone, assignee). */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { reasonOf } from '../browser.ts'
import { text, texts, type Act, type FormFields } from '../page.ts'
import { undoable } from '../undo.ts'
import { Button, Choice, Form } from './Form.tsx'
import { wayBack } from './bulk-undo.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './BulkEdit.css'

interface BulkEditProps {
  of: Scope
  labels: readonly { name: string }[]
  milestones: readonly { id: number; title: string }[]
  people: readonly { id: number; name: string }[]
  /** The list, whose rows have checkboxes. */
  children: ComponentChildren
}

/** The checkbox of a row. */
export const Pick = ({ iid, title }: { iid: number; title: string }) => (
  <input type="checkbox" name="iids[]" value={iid} aria-label={t.selectTitle(title)} />
)

export function BulkEdit({ of, labels, milestones, people, children }: BulkEditProps) {
  // Without scripts there is no count, and the form is always visible.
  const [chosen, setChosen] = useState<number | null>(null)
  useEffect(() => setChosen(0), [])
  const count = (event: { currentTarget: HTMLElement }) =>
    setChosen(event.currentTarget.querySelectorAll('input[name="iids[]"]:checked').length)
  const names = labels.map(({ name }) => [name, name] as const)
  return (
    <div onChange={count} onReset={() => setChosen(0)}>
      <Form action="bulk" resets>
        {children}
        <fieldset class="bulk" data-idle={chosen === 0 ? '' : undefined}>
          <legend>{t.editChosen(chosen, of)}</legend>
          <Choice
            name="state_event"
            label={common.state}
            isQuiet
            options={[
              ['', t.changeStatus],
              ['close', common.close],
              ['reopen', common.reopen],
            ]}
          />
          <Choice name="add_label" label={t.addLabel} isQuiet options={[['', t.addLabel], ...names]} />
          <Choice name="remove_label" label={t.removeLabel} isQuiet options={[['', t.removeLabel], ...names]} />
          <Choice
            name="milestone"
            label={common.milestone}
            isQuiet
            options={[
              ['', t.changeMilestone],
              ['0', t.noMilestone],
              ...milestones.map(({ id, title }) => [String(id), title] as const),
            ]}
          />
          <Choice
            name="assignee"
            label={common.assignee}
            isQuiet
            options={[
              ['', t.changeAssignee],
              ['0', t.unassigned],
              ...people.map(({ id, name }) => [String(id), name] as const),
            ]}
          />
          <Button>{common.apply}</Button>
        </fieldset>
      </Form>
    </div>
  )
}

type Scope = 'issues' | 'merge_requests'

/** A page of the list has no more rows. */
const MOST_AT_ONCE = 100

/** Each row is changed separately: an error in one does not stop the others. */
export const changeSeveral = (kind: Scope) => async (act: Act) => {
  const { api, params, form } = act
  const iids = [...new Set(texts(form, 'iids'))].slice(0, MOST_AT_ONCE)
  const changes = changesIn(form)
  if (iids.length === 0 || Object.keys(changes).length === 0) return { flash: { done: t.selectAtLeastOneItem } }
  const key = kind === 'issues' ? 'issue_iid' : 'merge_request_iid'
  // Both have these fields; the types are those of issues.
  const list = `/projects/{id}/${kind}` as '/projects/{id}/issues'
  const path = `${list}/{${key}}` as '/projects/{id}/issues/{issue_iid}'
  const before = await api.get(list, { id: params.id!, iids: iids.map(Number), per_page: MOST_AT_ONCE })
  const outcomes = await Promise.allSettled(
    iids.map((iid) => api.put(path, { id: params.id!, ...({ [key]: iid } as { issue_iid: string }), ...changes })),
  )
  const changed = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const refusal = outcomes.find((one) => one.status === 'rejected')
  if (refusal && changed.length === 0) throw refusal.reason
  const missed = refusal ? t.itemsNotChanged(iids.length - changed.length, reasonOf(refusal.reason)) : ''
  const done = t.itemsChanged(changed.length, kind) + missed
  const back = wayBack(before, changed)
  return back ? undoable(done, 'bulk', back) : { flash: { done } }
}

function changesIn(form: FormFields) {
  const event = (['close', 'reopen'] as const).find((one) => one === text(form, 'state_event'))
  const [added, removed] = [text(form, 'add_label'), text(form, 'remove_label')]
  const [milestone, assignee] = [text(form, 'milestone'), text(form, 'assignee')]
  return {
    ...(event && { state_event: event }),
    ...(added && { add_labels: [added] }),
    ...(removed && { remove_labels: [removed] }),
    ...(milestone && { milestone_id: Number(milestone) }),
    ...(assignee && { assignee_ids: assignee === '0' ? [] : assignee.split(',').map(Number) }),
  }
}
