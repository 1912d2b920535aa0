import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** Deletes the variables, because the server cannot restore their values and no job should run with an empty one. */
export const dropVariables: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'ci_variables', 'value_sealed')) {
    dropped += ids.length
    for (const id of ids) await app.db.deleteFrom('ci_variables').where('id', '=', id).execute()
  }
  return dropped > 0 ? [`${dropped} CI variables are lost: set them again`] : []
}
