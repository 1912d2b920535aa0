import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'

/** The tokens stay valid, because the store has their digests. Jobs do not get them any more. */
export const forgetSecrets: SecretReset = async (app) => {
  let forgotten = 0
  for await (const ids of unreadableRows(app, 'deploy_tokens', 'secret_sealed')) {
    forgotten += ids.length
    for (const id of ids)
      await app.db.updateTable('deploy_tokens').set({ secret_sealed: null }).where('id', '=', id).execute()
  }
  return forgotten > 0 ? [`${forgotten} deploy tokens no longer reach CI jobs: create them again`] : []
}
