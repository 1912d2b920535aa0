import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'
import { newTriggerToken } from './service.ts'

/** Creates new tokens. The old ones would still start pipelines, because the server knows their digests. */
export const renewTriggers: SecretReset = async (app) => {
  let renewed = 0
  for await (const ids of unreadableRows(app, 'pipeline_triggers', 'token_sealed')) {
    renewed += ids.length
    for (const id of ids) {
      await app.db.updateTable('pipeline_triggers').set(newTriggerToken(app)).where('id', '=', id).execute()
    }
  }
  return renewed > 0 ? [`${renewed} pipeline triggers have new tokens: their users must get the new ones`] : []
}
