/** Form actions that several CI pages share. */
import { text, type Act } from './page.ts'
import { undoable } from './undo.ts'
import * as common from './texts/common.ts'
import * as t from './texts/ci.ts'

/** Variables of a form whose rows have a name and a value each: `keys[]`, `values[]`. */
export function variablesOf({ form }: Act): { key: string; value: string }[] {
  const keys = [form.keys ?? []].flat().map(String)
  const values = [form.values ?? []].flat().map(String)
  return keys.flatMap((key, n) => (key.trim() === '' ? [] : [{ key: key.trim(), value: values[n] ?? '' }]))
}

const jobOf = ({ params, form }: Act) => ({ id: params.id!, job_id: text(form, 'job') })

export const jobActions = {
  async play(act: Act) {
    await act.api.post('/projects/{id}/jobs/{job_id}/play', {
      ...jobOf(act),
      ...(variablesOf(act).length > 0 && { job_variables_attributes: variablesOf(act) }),
    })
  },
  async retry(act: Act) {
    const { id } = await act.api.post('/projects/{id}/jobs/{job_id}/retry', jobOf(act))
    return undoable(t.jobRestartedAs(id), 'cancel', { job: id }, common.cancel)
  },
  async cancel(act: Act) {
    await act.api.post('/projects/{id}/jobs/{job_id}/cancel', jobOf(act))
    return undoable(t.jobCancelled, 'retry', { job: text(act.form, 'job') }, common.retry)
  },
} as const
