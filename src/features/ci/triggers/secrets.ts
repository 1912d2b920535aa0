import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'
import { newTriggerToken } from './service.ts'

/** The old ones, known by their digests, would still start pipelines: new ones are made. */
export const renewTriggers: SecretReset = async (app) => {
  let renewed = 0
  for await (const ids of unreadableRows(app, 'pipeline_triggers', 'token_sealed')) {
    renewed += ids.length
    for (const id of ids) {
      await app.db.updateTable('pipeline_triggers').set(newTriggerToken(app)).where('id', '=', id).execute()
    }
  }
  return renewed > 0 ? [`${renewed} pipeline triggers have new tokens: who uses them is to be told`] : []
}
