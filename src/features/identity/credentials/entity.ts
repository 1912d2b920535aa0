import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { words } from '../tokens/entity.ts'
import type { OwnedOAuthToken } from './queries.ts'

export const PrivateTokenEntity = entity({ private_token: z.string() }).meta({ id: 'PrivateToken' })

export const SessionEntity = entity({
  id: z.int(),
  created_at: timestampOut,
  last_used_at: timestampOut.nullable(),
  expires_at: timestampOut,
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  /** The session of this request. */
  current: z.boolean(),
}).meta({ id: 'Session' })

export function presentSession(session: Row<'sessions'>, current: number | null): z.infer<typeof SessionEntity> {
  return {
    id: session.id,
    created_at: session.created_at,
    last_used_at: session.last_used_at,
    expires_at: session.expires_at,
    ip_address: session.ip_address,
    user_agent: session.user_agent,
    current: session.id === current,
  }
}

export const OAuthTokenEntity = entity({
  id: z.int(),
  /** Null if no client was named: a password was exchanged for the token. */
  application: entity({ id: z.int(), application_name: z.string() }).nullable(),
  scopes: z.array(z.string()),
  created_at: timestampOut,
  last_used_at: timestampOut.nullable(),
  expires_at: timestampOut.nullable(),
}).meta({ id: 'OAuthToken' })

export function presentOAuthToken(token: OwnedOAuthToken): z.infer<typeof OAuthTokenEntity> {
  const { application_id: id, application_name } = token
  return {
    id: token.id,
    application: id === null || application_name === null ? null : { id, application_name },
    scopes: words(token.scopes),
    created_at: token.created_at,
    last_used_at: token.last_used_at,
    expires_at: token.expires_at,
  }
}

/** The number of revoked credentials by kind. */
export const RevokedEntity = entity({
  personal_access_tokens: z.int(),
  impersonation_tokens: z.int(),
  oauth_tokens: z.int(),
  sessions: z.int(),
  ssh_keys: z.int(),
}).meta({ id: 'RevokedCredentials' })
export type Revoked = z.infer<typeof RevokedEntity>
