import type { Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOfPresented } from '../../../lib/crypto/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { noteUse } from '../uses.ts'
import { oauthRefusal } from './errors.ts'
import { findTokenWithUser } from './queries.ts'
import { toScopes } from './scopes.ts'

const FORM = /^[0-9a-f]{64}$/

/** The user behind an OAuth token; null if there is none. A client learns why its own token stopped working. */
export function byOAuthToken(app: App, secret: string): MaybePromise<Identity | null> {
  return andThen(findToken(app, secret), (found) => (found?.user.state === 'active' ? bearerOf(app, found) : null))
}

/** Includes blocked users: the caller must reject them and may tell them why. */
export async function bearerOfOAuthToken(app: App, secret: string): Promise<Identity | null> {
  const found = await findToken(app, secret)
  return found && bearerOf(app, found)
}

type Found = NonNullable<Awaited<ReturnType<typeof findTokenWithUser>>>

function findToken({ db }: App, secret: string): MaybePromise<Found | null> {
  return FORM.test(secret) ? findTokenWithUser(db, digestOfPresented(secret)) : null
}

function bearerOf(app: App, found: Found): Identity {
  if (found.revoked_at !== null) {
    throw oauthRefusal('invalid_token', 'Token was revoked. You have to re-authorize from the user.')
  }
  if (found.expires_at !== null && found.expires_at <= timestamp(app.clock)) {
    throw oauthRefusal('invalid_token', 'Token is expired. You can either do re-authorization or token refresh.')
  }
  if (found.user.state === 'active') noteUse(app, 'oauth_tokens', found)
  return { kind: 'oauth', user: found.user, scopes: toScopes(found.scopes), tokenId: found.id }
}
