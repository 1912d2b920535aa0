import type { Identity } from '../../../api/credentials.ts'
import { timestamp, today } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOfPresented } from '../../../lib/crypto/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { isUnnoted, staleUse } from '../uses.ts'
import { words } from './entity.ts'
import { isActive } from './policy.ts'
import { findTokenWithUser, isRetired, scopesFrom } from './queries.ts'
import { revokeFamily } from './service.ts'

const ADDRESSES_KEPT = 5

type Found = NonNullable<Awaited<ReturnType<typeof findTokenWithUser>>>

/** The user behind a private, personal or impersonation token; null if the token is no longer valid. */
export function byAccessToken(app: App, secret: string, address: string): MaybePromise<Identity | null> {
  return andThen(bearerOfToken(app, secret, address), (identity) =>
    identity?.user.state === 'active' ? identity : null,
  )
}

/** Includes blocked users: the caller must reject them and may tell them why. */
export function bearerOfToken(app: App, secret: string, address: string): MaybePromise<Identity | null> {
  return andThen(findTokenWithUser(app.db, digestOfPresented(secret)), (found) => {
    if (!found) return null
    // The owner already uses the successor, so this copy is in other hands, and the successor may be too.
    if (found.rotated && app.config.readOnly) return null
    if (found.rotated) return revokeFamily(app, found.family_id ?? found.id).then(() => null)
    if (!isActive(found, today(app.clock)) || found.user.ghost) return null
    if (!found.user.bot) return identify(app, found, address)
    return isRetired(app.db, found.user).then((retired) => (retired ? null : identify(app, found, address)))
  })
}

function identify(app: App, found: Found, address: string): Identity {
  if (found.kind !== 'private' && found.user.state === 'active') noteUse(app, found, address)
  return identityOf(found)
}

function identityOf(found: Found): Identity {
  const scopes = found.kind === 'private' ? null : scopesFrom(found.scopes)
  return { kind: found.kind, user: found.user, tokenId: found.id, scopes }
}

function noteUse(app: App, found: Found, address: string): void {
  if (isUnnoted(app, found)) void writeUse(app, found, address)
}

/** Runs apart from the request, which neither waits for the write nor fails with it. */
async function writeUse(app: App, found: Found, address: string): Promise<void> {
  const others = words(found.last_used_ips).filter((one) => one !== address)
  try {
    await app.db
      .updateTable('access_tokens')
      .set({
        last_used_at: timestamp(app.clock),
        last_used_ips: [...others, address].slice(-ADDRESSES_KEPT).join(' '),
      })
      .where('id', '=', found.id)
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', staleUse(app))]))
      .execute()
  } catch (error) {
    app.log.warn({ err: error, token: found.id }, 'use of a token was not noted')
  }
}
