/** Fields of an issue with choices, in its forms. */
import type { Records } from '../../../api.ts'
import { Choice, Field, Tick } from '../../../components/Form.tsx'
import { Label } from '../../../components/State.tsx'
import { text, texts, type FormFields } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

export interface Choices {
  labels: readonly { id: number; name: string; color: string }[]
  milestones: readonly { id: number; title: string }[]
  people: readonly Records['UserSummary'][]
}

interface Chosen {
  assignees: readonly { id: number }[]
  labels: readonly string[]
  milestone: { id: number } | null
  due_date: string | null
  weight: number | null
}

const NOTHING: Chosen = { assignees: [], labels: [], milestone: null, due_date: null, weight: null }

export function PlanFields({ labels, milestones, people, chosen = NOTHING }: Choices & { chosen?: Chosen }) {
  return (
    <>
      <fieldset class="pick">
        <legend>{common.assignees}</legend>
        {people.length === 0 && <span class="quiet">{t.noMembersYet}</span>}
        {people.map((one) => (
          <label key={one.id}>
            <Tick name="assignee_ids[]" value={one.id} isOn={chosen.assignees.some(({ id }) => id === one.id)} />
            {one.name} <span class="quiet">@{one.username}</span>
          </label>
        ))}
      </fieldset>
      <fieldset class="pick">
        <legend>{common.labels}</legend>
        {labels.length === 0 && <span class="quiet">{t.noLabelsYetSentence}</span>}
        {labels.map((label) => (
          <label key={label.id}>
            <Tick name="labels[]" value={label.name} isOn={chosen.labels.includes(label.name)} />
            <Label of={label} />
          </label>
        ))}
      </fieldset>
      <Choice
        name="milestone_id"
        label={common.milestone}
        value={chosen.milestone?.id ?? ''}
        options={[['', common.none], ...milestones.map(({ id, title }) => [String(id), title] as const)]}
      />
      <Field name="due_date" type="date" label={t.dueDate} value={chosen.due_date} />
      <Field name="weight" type="number" label={t.weight} value={chosen.weight} />
    </>
  )
}

/** The API input of these fields. Empty ones clear the value. */
export function planOf(form: FormFields) {
  const number = (name: string) => (text(form, name) === '' ? null : Number(text(form, name)))
  return {
    assignee_ids: texts(form, 'assignee_ids').map(Number),
    labels: texts(form, 'labels'),
    milestone_id: number('milestone_id'),
    due_date: text(form, 'due_date') || null,
    weight: number('weight'),
    confidential: text(form, 'confidential') === 'true',
  }
}

/** The current values of the same fields, to undo a change. */
export const planFields = (issue: Records['Issue']) => ({
  assignee_ids: issue.assignees.map(({ id }) => id),
  labels: issue.labels.map((label) => (typeof label === 'string' ? label : label.name)),
  milestone_id: issue.milestone?.id ?? '',
  due_date: issue.due_date ?? '',
  weight: issue.weight ?? '',
  confidential: String(issue.confidential),
  discussion_locked: String(issue.discussion_locked ?? false),
})
