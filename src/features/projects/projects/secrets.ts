import type { SecretReset } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { unreadableRows } from '../../sealed.ts'

export const replaceProjectSecrets: SecretReset = async (app) => {
  let tokens = 0
  let credentials = 0
  for await (const ids of unreadableRows(app, 'projects', 'runners_token_sealed')) {
    tokens += ids.length
    for (const id of ids) {
      const token = randomToken()
      await app.db
        .updateTable('projects')
        .set({ runners_token_digest: digestOf(token), runners_token_sealed: app.vault.seal(token) })
        .where('id', '=', id)
        .execute()
    }
  }
  for await (const ids of unreadableRows(app, 'projects', 'import_credentials_sealed')) {
    credentials += ids.length
    for (const id of ids)
      await app.db.updateTable('projects').set({ import_credentials_sealed: null }).where('id', '=', id).execute()
  }
  return [
    ...(tokens > 0
      ? [`${tokens} runner registration tokens of projects were replaced: register runners with the new ones`]
      : []),
    ...(credentials > 0 ? [`${credentials} imports have lost their credentials`] : []),
  ]
}
