import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** The server cannot restore the values. */
export const dropScheduleVariables: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'pipeline_schedule_variables', 'value_sealed')) {
    dropped += ids.length
    for (const id of ids) await app.db.deleteFrom('pipeline_schedule_variables').where('id', '=', id).execute()
  }
  return dropped > 0 ? [`${dropped} variables of pipeline schedules are lost: set them again`] : []
}
