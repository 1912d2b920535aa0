import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { Trigger } from './model.ts'

export const TriggerEntity = entity({
  id: z.int(),
  token: z.string(),
  description: z.string(),
  created_at: timestampOut,
  updated_at: timestampOut,
  deleted_at: z.null(),
  last_used: timestampOut.nullable(),
  expires_at: timestampOut.nullable(),
  owner: UserSummaryEntity.nullable(),
}).meta({ id: 'Trigger' })

export interface LoadedTrigger extends Trigger {
  readonly owner: User | null
}

/** Enough characters to tell tokens apart. */
export const SHORT_TOKEN_LENGTH = 4

export function presentTrigger(
  { vault }: App,
  trigger: LoadedTrigger,
  viewer: User,
  around: Surroundings,
): z.infer<typeof TriggerEntity> {
  const token = vault.open(trigger.token_sealed)
  return {
    id: trigger.id,
    token: trigger.owner_id === viewer.id ? token : token.slice(0, SHORT_TOKEN_LENGTH),
    description: trigger.description,
    created_at: trigger.created_at,
    updated_at: trigger.updated_at,
    deleted_at: null,
    last_used: trigger.last_used_at,
    expires_at: trigger.expires_at,
    owner: trigger.owner && presentUserSummary(trigger.owner, around),
  }
}
