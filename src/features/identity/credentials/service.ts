/** Revokes credentials: a single one, or all credentials of a user, for example after a theft. */
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { endFeedToken } from '../feed-tokens/service.ts'
import { deleteKey } from '../keys/service.ts'
import { revokeOAuthOf } from '../oauth/tokens.ts'
import { endOldWaysIn, lockCredentials } from '../sessions/ending.ts'
import { replacePrivateToken, revokeTokensOf } from '../tokens/service.ts'
import type { Revoked } from './entity.ts'

export async function revokeSession({ db }: App, { id }: Row<'sessions'>): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Session') // deleted in the meantime
}

/**
 * Revokes every credential except the password. The private token is replaced by a new one that the owner gets by
 * signing in. SSH keys are useless to a thief who does not have the private half, unless the thief added the key:
 * `keys` deletes them too.
 */
export async function revokeCredentials(app: App, user: User, { keys }: { keys: boolean }): Promise<Revoked> {
  return transact(app, async (app) => {
    await lockCredentials(app, user.id)
    await replacePrivateToken(app, user)
    await endFeedToken(app, user)
    const sessions = await endOldWaysIn(app, user)
    const revoked = {
      personal_access_tokens: await revokeTokensOf(app, user, 'personal'),
      impersonation_tokens: await revokeTokensOf(app, user, 'impersonation'),
      oauth_tokens: await revokeOAuthOf(app, user),
      sessions,
      ssh_keys: keys ? await deleteKeysOf(app, user) : 0,
    }
    // Signed tokens are not stored anywhere, so this date ends them.
    await app.db
      .updateTable('users')
      .set({ credentials_revoked_at: timestamp(app.clock) })
      .where('id', '=', user.id)
      .execute()
    return revoked
  })
}

async function deleteKeysOf(app: App, user: User): Promise<number> {
  const keys = await app.db.selectFrom('keys').selectAll().where('user_id', '=', user.id).execute()
  for (const key of keys) await deleteKey(app, user, key)
  return keys.length
}
