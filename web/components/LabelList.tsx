/** Labels of a project or a group, with forms to change them. */
import type { Listed, Records } from '../api.ts'
import { text, type FormFields } from '../page.ts'
import { ActButton, Button, Field, Form, fold } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Label } from './State.tsx'
import { Empty, Pages, Row, Rows } from './lists.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './LabelList.css'

type LabelRecord = Records['Label']

interface LabelListProps {
  labels: Listed<LabelRecord[]>
  mayPlan: boolean
  /** The URL of the issues with the label. */
  hrefOf(label: LabelRecord): string
  /** Whether the label belongs to this project or group, and can be changed here. */
  isOwn(label: LabelRecord): boolean
}

export const LabelList = ({ labels, mayPlan, hrefOf, isOwn }: LabelListProps) => (
  <>
    {mayPlan && (
      <details class="edit" onReset={fold}>
        <summary class="button" data-kind="main">
          <Icon name="plus" /> {t.newLabel}
        </summary>
        <Form action="create" id="new" resets class="card-body">
          <LabelFields />
          <Button kind="main">{t.createLabel}</Button>
        </Form>
      </details>
    )}
    {labels.items.length === 0 ? (
      <Empty title={t.noLabelsYet}>
        <p>{t.useLabelsToCategorizeIssues}</p>
      </Empty>
    ) : (
      <Rows label={common.labels}>
        {labels.items.map((label) => (
          <Row
            key={label.id}
            title={<Label of={label} href={hrefOf(label)} />}
            facts={
              <>
                {label.description} {label.open_issues_count !== undefined && t.openIssues(label.open_issues_count)}
                {label.open_merge_requests_count !== undefined && t.openMergeRequests(label.open_merge_requests_count)}
                {label.is_project_label === false && t.groupLabelSuffix}
                {mayPlan && isOwn(label) && <Change label={label} />}
              </>
            }
            aside={
              mayPlan &&
              isOwn(label) && (
                <ActButton
                  action="destroy"
                  id={`delete-${label.id}`}
                  fields={{ label_id: label.id }}
                  kind="plain"
                  label={t.deleteName(label.name)}
                  confirm={t.deleteLabelName(label.name)}
                >
                  <Icon name="trash" />
                </ActButton>
              )
            }
          />
        ))}
      </Rows>
    )}
    <Pages of={labels} />
  </>
)

const Change = ({ label }: { label: LabelRecord }) => (
  <details class="edit" onReset={fold}>
    <summary>
      {common.edit} <span class="spoken">{label.name}</span>
    </summary>
    <Form action="change" id={`edit-${label.id}`} resets>
      <input type="hidden" name="label_id" value={label.id} />
      <LabelFields label={label} />
      <Button kind="main">{common.save}</Button>
    </Form>
  </details>
)

const LabelFields = ({ label }: { label?: LabelRecord }) => (
  <>
    <Field name="name" label={common.name} required value={label?.name} />
    <label class="field">
      <span class="field-label">{t.colour}</span>
      <input class="colour" type="color" name="color" defaultValue={label?.color ?? '#3d5a99'} />
    </label>
    <Field name="description" label={common.description} value={label?.description} />
  </>
)

export const labelOf = (form: FormFields) => ({
  name: text(form, 'name'),
  color: text(form, 'color'),
  description: text(form, 'description'),
})
