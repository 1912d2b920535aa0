/** Taking credentials back: one, or all that somebody has, as after a theft. */
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
  if (numDeletedRows === 0n) throw notFound('Session') // somebody was faster
}

/**
 * Ends every credential but the password: the private token is replaced by one nobody has seen, which its owner learns
 * by signing in. SSH keys open nothing for a thief who does not hold them, unless it was the thief who added them.
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
    // What was signed for them and is kept nowhere ends by its date.
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
