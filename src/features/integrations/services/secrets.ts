import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** Only whom it speaks to knows them: without, a service can do nothing. */
export const dropServiceSecrets: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'services', 'secrets_sealed')) {
    dropped += ids.length
    const change = { secrets_sealed: null, active: false }
    for (const id of ids) await app.db.updateTable('services').set(change).where('id', '=', id).execute()
  }
  return dropped > 0 ? [`${dropped} services have lost their secrets and are off: they are to be set again`] : []
}
