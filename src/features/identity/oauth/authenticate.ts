import type { Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { weakMemo } from '../../../lib/weak-memo.ts'
import { digestOfShown } from '../../../lib/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { oauthRefusal } from './errors.ts'
import { findTokenWithUser } from './queries.ts'
import { toScopes } from './scopes.ts'

const FORM = /^[0-9a-f]{64}$/

/** The person behind an OAuth token; null when there is none. A client learns why its own token ceased to work. */
export function byOAuthToken(app: App, secret: string): MaybePromise<Identity | null> {
  return andThen(findToken(app, secret), (found) => (found?.state === 'active' ? bearerOf(app, found) : null))
}

/** Blocked people too: whoever asks has to turn them away, and may say why. */
export async function bearerOfOAuthToken(app: App, secret: string): Promise<Identity | null> {
  const found = await findToken(app, secret)
  return found && bearerOf(app, found)
}

type Found = NonNullable<Awaited<ReturnType<typeof findTokenWithUser>>>

function findToken({ db }: App, secret: string): MaybePromise<Found | null> {
  return FORM.test(secret) ? findTokenWithUser(db, digestOfShown(secret)) : null
}

function bearerOf(app: App, found: Found): Identity {
  if (found.token_revoked_at !== null) {
    throw oauthRefusal('invalid_token', 'Token was revoked. You have to re-authorize from the user.')
  }
  if (found.token_expires_at !== null && found.token_expires_at <= timestamp(app.clock)) {
    throw oauthRefusal('invalid_token', 'Token is expired. You can either do re-authorization or token refresh.')
  }
  return identityOf(found)
}

const identityOf = weakMemo((found: Found): Identity => ({
  kind: 'oauth',
  user: found,
  scopes: toScopes(found.token_scopes),
  tokenId: found.token_id,
}))
