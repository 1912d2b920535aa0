import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

const record = {
  id: z.int(),
  name: z.string(),
  username: z.string(),
  expires_at: timestampOut.nullable(),
  scopes: z.array(z.string()),
  revoked: z.boolean(),
  expired: z.boolean(),
}

export const DeployTokenEntity = entity(record).meta({ id: 'DeployToken' })

/** The only answer with the value. The store keeps just a digest, except for the token that jobs get. */
export const NewDeployTokenEntity = entity({ ...record, token: z.string() }).meta({ id: 'NewDeployToken' })

export function presentDeployToken(token: Row<'deploy_tokens'>, now: string): z.infer<typeof DeployTokenEntity> {
  return {
    id: token.id,
    name: token.name,
    username: token.username,
    expires_at: token.expires_at,
    scopes: token.scopes.split(' '),
    revoked: token.revoked,
    expired: token.expires_at !== null && token.expires_at <= now,
  }
}
