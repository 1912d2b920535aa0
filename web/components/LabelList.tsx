/** Labels of a project or a group, with forms to change them. */
import type { Listed, Records } from '../api.ts'
import { text, type FormFields } from '../page.ts'
import { ActButton, Button, Field, Form, fold } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Label } from './State.tsx'
import { Empty, Pages, Row, Rows } from './lists.tsx'

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
          <Icon name="plus" /> New label
        </summary>
        <Form action="create" id="new" resets class="card-body">
          <LabelFields />
          <Button kind="main">Create label</Button>
        </Form>
      </details>
    )}
    {labels.items.length === 0 ? (
      <Empty title="No labels yet">
        <p>Use labels to categorize issues and merge requests, and to create board lists.</p>
      </Empty>
    ) : (
      <Rows label="Labels">
        {labels.items.map((label) => (
          <Row
            key={label.id}
            title={<Label of={label} href={hrefOf(label)} />}
            facts={
              <>
                {label.description}{' '}
                {label.open_issues_count !== undefined &&
                  `${label.open_issues_count} open ${label.open_issues_count === 1 ? 'issue' : 'issues'}`}
                {label.open_merge_requests_count !== undefined &&
                  `, ${label.open_merge_requests_count} merge ${label.open_merge_requests_count === 1 ? 'request' : 'requests'}`}
                {label.is_project_label === false && ' · group label'}
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
                  label={`Delete ${label.name}`}
                  confirm={`Delete the label ${label.name}? It is removed from all issues and merge requests.`}
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
      Edit <span class="spoken">{label.name}</span>
    </summary>
    <Form action="change" id={`edit-${label.id}`} resets>
      <input type="hidden" name="label_id" value={label.id} />
      <LabelFields label={label} />
      <Button kind="main">Save</Button>
    </Form>
  </details>
)

const LabelFields = ({ label }: { label?: LabelRecord }) => (
  <>
    <Field name="name" label="Name" required value={label?.name} />
    <label class="field">
      <span class="field-label">Colour</span>
      <input class="colour" type="color" name="color" defaultValue={label?.color ?? '#3d5a99'} />
    </label>
    <Field name="description" label="Description" value={label?.description} />
  </>
)

export const labelOf = (form: FormFields) => ({
  name: text(form, 'name'),
  color: text(form, 'color'),
  description: text(form, 'description'),
})
