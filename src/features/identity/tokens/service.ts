import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/secrets.ts'

/** The account's own token, made with the account. */
export async function createPrivateToken(app: App, user: User, secret = randomToken()): Promise<void> {
  const now = timestamp(app.clock)
  await app.db
    .insertInto('access_tokens')
    .values({
      user_id: user.id,
      kind: 'private',
      name: 'private token',
      description: null,
      digest: digestOf(secret),
      sealed: app.vault.seal(secret),
      scopes: '',
      expires_at: null,
      revoked: false,
      family_id: null,
      rotated: false,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
}
