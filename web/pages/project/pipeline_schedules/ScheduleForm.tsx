/** The form of a pipeline schedule. */
import type { Records } from '../../../api.ts'
import { variablesOf } from '../../../ci-actions.ts'
import { Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { VariableRows } from '../../../components/VariableRows.tsx'
import { flag } from '../../../fields.ts'
import { below, type Project } from '../../../layout/project.tsx'
import { text, type Act } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface ScheduleFormProps {
  project: Project
  schedule?: Records['PipelineSchedule']
  action: string
  children: string
}

const HINT = t.cronSyntaxMinuteHourDay

export const ScheduleForm = ({ project, schedule, action, children }: ScheduleFormProps) => (
  <Form action={action} class="ci-narrow">
    <Field name="description" label={common.description} value={schedule?.description} required />
    <Field name="cron" label={t.intervalPattern} value={schedule?.cron ?? '0 4 * * *'} required hint={HINT} />
    <Field name="cron_timezone" label={t.timeZone} value={schedule?.cron_timezone ?? 'UTC'} />
    <Field name="ref" label={t.branchOrTag} value={schedule?.ref ?? project.default_branch} required />
    <VariableRows given={schedule?.variables ?? []} />
    <Switch name="active" label={common.active} isOn={schedule?.active ?? true} />
    <div class="row">
      <Button kind="main">{children}</Button>
      <a href={below(project, 'pipeline_schedules')}>{common.cancel}</a>
    </div>
  </Form>
)

export const scheduleOf = ({ params, form }: Act) => ({
  id: params.id!,
  description: text(form, 'description'),
  cron: text(form, 'cron'),
  cron_timezone: text(form, 'cron_timezone') || undefined,
  ref: text(form, 'ref'),
  active: flag(form, 'active'),
})

/** Replaces the variables of a schedule by those of the form. */
export async function writeVariables(
  act: Act,
  schedule: string | number,
  before: readonly { key: string; value: string }[],
) {
  const of = { id: act.params.id!, pipeline_schedule_id: schedule }
  const variables = variablesOf(act)
  for (const { key } of before)
    if (!variables.some((one) => one.key === key))
      await act.api.delete('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables/{key}', { ...of, key })
  for (const { key, value } of variables) {
    const old = before.find((one) => one.key === key)
    if (!old)
      await act.api.post('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables', { ...of, key, value })
    else if (old.value !== value)
      await act.api.put('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables/{key}', {
        ...of,
        key,
        value,
      })
  }
}
