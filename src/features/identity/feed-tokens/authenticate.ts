import { createHmac } from 'node:crypto'
import type { App, User } from '../../../context.ts'
import { digestOf, sameSecret } from '../../../lib/crypto/secrets.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { findUser } from '../users/queries.ts'
import { FEED_TOKEN_PREFIX } from './service.ts'

const LONGEST = 200
/** A token that is valid for one path: an HMAC of the path with the feed token as key, and the id of the user. */
const BOUND = new RegExp(`^${FEED_TOKEN_PREFIX}([0-9a-f]{64})-([1-9]\\d{0,14})$`)

export const boundFeedToken = (token: string, path: string, user: number): string =>
  `${FEED_TOKEN_PREFIX}${createHmac('sha256', token).update(path).digest('hex')}-${user}`

/** The user who may read the feed at this path; null if the token is invalid or was replaced. */
export async function byFeedToken(app: App, shown: string, path: string): Promise<User | null> {
  if (shown.length > LONGEST || (await currentSettings(app)).disable_feed_token) return null
  const [, , whose] = BOUND.exec(shown) ?? []
  const id = whose === undefined ? await ownerOf(app, shown) : await ownerOfBound(app, shown, path, Number(whose))
  const user = id === null ? null : await findUser(app.db, id)
  return user?.state === 'active' && !user.ghost ? user : null
}

async function ownerOf({ db }: App, shown: string): Promise<number | null> {
  const found = await db
    .selectFrom('feed_tokens')
    .select('user_id')
    .where('token_digest', '=', digestOf(shown))
    .executeTakeFirst()
  return found?.user_id ?? null
}

async function ownerOfBound({ db, vault }: App, shown: string, path: string, user: number): Promise<number | null> {
  const found = await db.selectFrom('feed_tokens').select('token_sealed').where('user_id', '=', user).executeTakeFirst()
  return found && sameSecret(shown, boundFeedToken(vault.open(found.token_sealed), path, user)) ? user : null
}
