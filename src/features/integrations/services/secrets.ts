import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/**
 * The server cannot generate new secrets for services: only their receivers know the values. Without them the service
 * is switched off.
 */
export const dropServiceSecrets: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'services', 'secrets_sealed')) {
    dropped += ids.length
    const change = { secrets_sealed: null, active: false }
    for (const id of ids) await app.db.updateTable('services').set(change).where('id', '=', id).execute()
  }
  return dropped > 0 ? [`${dropped} integrations lost their secrets and are disabled: set them up again`] : []
}
