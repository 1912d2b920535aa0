import { timestamp } from '../../../clock.ts'
import type { SecretReset } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { unreadableRows } from '../../sealed.ts'

/** The old tokens cannot be decrypted any more. */
export const replaceTokens: SecretReset = async (app) => {
  let replaced = 0
  for await (const ids of unreadableRows(app, 'access_tokens', 'sealed')) {
    replaced += ids.length
    for (const id of ids) {
      const secret = randomToken()
      await app.db
        .updateTable('access_tokens')
        .set({ digest: digestOf(secret), sealed: app.vault.seal(secret), updated_at: timestamp(app.clock) })
        .where('id', '=', id)
        .execute()
    }
  }
  return replaced > 0
    ? [`${replaced} private and impersonation tokens were replaced: their users must get the new ones`]
    : []
}
