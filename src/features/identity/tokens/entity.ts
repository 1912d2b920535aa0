import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { AccessToken } from './model.ts'
import { isActive } from './policy.ts'

/** Fields of all access tokens. */
export const tokenFields = {
  id: z.int(),
  name: z.string(),
  revoked: z.boolean(),
  created_at: timestampOut,
  description: z.string().nullable(),
  scopes: z.array(z.string()),
  user_id: z.int(),
  last_used_at: timestampOut.nullable(),
  active: z.boolean(),
  expires_at: dateOut.nullable(),
}

export const PersonalTokenEntity = entity(tokenFields).meta({ id: 'PersonalAccessToken' })

/** A single token. */
export const PersonalTokenDetailsEntity = entity({ ...tokenFields, last_used_ips: z.array(z.string()) }).meta({
  id: 'PersonalAccessTokenDetails',
})

/** The only answer with the value: the store has only its digest. */
export const NewPersonalTokenEntity = entity({ ...tokenFields, token: z.string() }).meta({
  id: 'NewPersonalAccessToken',
})

export const words = (text: string): string[] => text.split(' ').filter(Boolean)

export function presentPersonalToken(token: AccessToken, today: string): z.infer<typeof PersonalTokenEntity> {
  return {
    id: token.id,
    name: token.name,
    revoked: token.revoked,
    created_at: token.created_at,
    description: token.description,
    scopes: words(token.scopes),
    user_id: token.user_id,
    last_used_at: token.last_used_at,
    active: isActive(token, today),
    expires_at: token.expires_at,
  }
}

export function presentPersonalTokenDetails(
  token: AccessToken,
  today: string,
): z.infer<typeof PersonalTokenDetailsEntity> {
  return { ...presentPersonalToken(token, today), last_used_ips: words(token.last_used_ips) }
}

export function presentNewPersonalToken(
  { token, secret }: { token: AccessToken; secret: string },
  today: string,
): z.infer<typeof NewPersonalTokenEntity> {
  return { ...presentPersonalToken(token, today), token: secret }
}
