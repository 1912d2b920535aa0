/** Which person stands behind a credential: the one answer for the API, git and the web. */
import type { Identity, Shown } from '../../api/credentials.ts'
import type { Authentication } from '../../api/run.ts'
import { today } from '../../clock.ts'
import type { App } from '../../context.ts'
import { digestOf } from '../../lib/secrets.ts'
import { findTokenWithUser, scopesFrom } from './tokens/queries.ts'
import { findUserByIdOrUsername } from './users/queries.ts'

export const authentication: Authentication = {
  identify,
  provesOrigin: () => false,
  findSudoTarget: (app, given) => findUserByIdOrUsername(app.db, given),
}

async function identify(app: App, shown: Shown): Promise<Identity | null> {
  switch (shown.as) {
    case 'private_token':
      return byAccessToken(app, shown.secret)
    case 'bearer':
      return byAccessToken(app, shown.secret)
    default:
      return null
  }
}

async function byAccessToken(app: App, secret: string): Promise<Identity | null> {
  const found = await findTokenWithUser(app.db, digestOf(secret))
  if (!found || found.token_revoked || found.state !== 'active') return null
  if (found.token_expires_at !== null && found.token_expires_at <= today(app.clock)) return null
  const scopes = found.token_kind === 'private' ? null : scopesFrom(found.token_scopes)
  return { kind: found.token_kind, user: found, scopes, tokenId: found.token_id }
}
