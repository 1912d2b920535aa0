import type { SecretReset } from '../../../context.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { unreadableRows } from '../../sealed.ts'

export const replaceInvitationTokens: SecretReset = async (app) => {
  let replaced = 0
  for await (const ids of unreadableRows(app, 'invitations', 'token_sealed')) {
    replaced += ids.length
    for (const id of ids) {
      const token = randomHex()
      await app.db
        .updateTable('invitations')
        .set({ token_digest: digestOf(token), token_sealed: app.vault.seal(token) })
        .where('id', '=', id)
        .execute()
    }
  }
  return replaced > 0 ? [`${replaced} invitations have new links: links in sent emails no longer work`] : []
}
