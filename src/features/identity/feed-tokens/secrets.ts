import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'
import { newFeedToken } from './service.ts'

/** The old tokens cannot be decrypted any more. */
export const replaceFeedTokens: SecretReset = async (app) => {
  let replaced = 0
  for await (const ids of unreadableRows(app, 'feed_tokens', 'token_sealed')) {
    replaced += ids.length
    for (const id of ids)
      await app.db.updateTable('feed_tokens').set(newFeedToken(app).columns).where('id', '=', id).execute()
  }
  return replaced > 0 ? [`${replaced} feed tokens were replaced: users must set up their feed readers again`] : []
}
