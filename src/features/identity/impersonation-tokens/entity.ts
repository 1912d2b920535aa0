import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import { words } from '../tokens/entity.ts'
import type { AccessToken } from '../tokens/model.ts'
import { isActive } from '../tokens/policy.ts'

export const ImpersonationTokenEntity = entity({
  id: z.int(),
  name: z.string(),
  token: z.string(),
  scopes: z.array(z.string()),
  active: z.boolean(),
  revoked: z.boolean(),
  impersonation: z.literal(true),
  created_at: timestampOut,
  expires_at: dateOut.nullable(),
}).meta({ id: 'ImpersonationToken' })

export function presentImpersonationToken(
  token: AccessToken,
  secret: string,
  today: string,
): z.infer<typeof ImpersonationTokenEntity> {
  return {
    id: token.id,
    name: token.name,
    token: secret,
    scopes: words(token.scopes),
    active: isActive(token, today),
    revoked: token.revoked,
    impersonation: true,
    created_at: token.created_at,
    expires_at: token.expires_at,
  }
}
