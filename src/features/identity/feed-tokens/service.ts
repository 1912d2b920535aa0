import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { forbidden } from '../../../errors.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'

export const FEED_TOKEN_PREFIX = 'glft-'

export function newFeedToken({ vault }: Pick<App, 'vault'>) {
  const secret = FEED_TOKEN_PREFIX + randomToken()
  return { secret, columns: { token_digest: digestOf(secret), token_sealed: vault.seal(secret) } }
}

/** Null until the user has created one. */
export async function feedTokenOf({ db, vault }: App, user: User): Promise<string | null> {
  const found = await db
    .selectFrom('feed_tokens')
    .select('token_sealed')
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  return found ? vault.open(found.token_sealed) : null
}

/** Creates or replaces the token. The old token stops working at once. */
export async function replaceFeedToken(app: App, user: User): Promise<string> {
  if (user.ghost) throw forbidden()
  const { secret, columns } = newFeedToken(app)
  const row = { ...columns, created_at: timestamp(app.clock) }
  await app.db
    .insertInto('feed_tokens')
    .values({ user_id: user.id, ...row })
    .onConflict((c) => c.column('user_id').doUpdateSet(row))
    .execute()
  return secret
}

export async function endFeedToken({ db }: App, { id }: User): Promise<void> {
  await db.deleteFrom('feed_tokens').where('user_id', '=', id).execute()
}
