import type { SecretReset } from '../../../context.ts'
import { unreadableRows } from '../../sealed.ts'
import { removeTotp } from './service.ts'

/** Without the secret no code can be verified: users with TOTP could not sign in any more. */
export const dropSecondFactors: SecretReset = async (app) => {
  let dropped = 0
  for await (const ids of unreadableRows(app, 'second_factors', 'secret_sealed')) {
    dropped += ids.length
    for (const id of ids) {
      const row = await app.db.selectFrom('second_factors').select('user_id').where('id', '=', id).executeTakeFirst()
      if (row) await removeTotp(app, { id: row.user_id })
    }
  }
  return dropped > 0 ? [`${dropped} two-factor authentications are disabled and must be set up again`] : []
}
