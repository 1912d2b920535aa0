import type { Identity } from '../../../api/credentials.ts'
import { today } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { findTokenWithUser, scopesFrom } from './queries.ts'

/** The person behind an account, personal or impersonation token; null when it no longer opens anything. */
export async function byAccessToken(app: App, secret: string, _address: string): Promise<Identity | null> {
  const found = await findTokenWithUser(app.db, digestOf(secret))
  if (!found || found.token_revoked || found.state !== 'active') return null
  if (found.token_expires_at !== null && found.token_expires_at <= today(app.clock)) return null
  const scopes = found.token_kind === 'private' ? null : scopesFrom(found.token_scopes)
  return { kind: found.token_kind, user: found, scopes, tokenId: found.token_id }
}
