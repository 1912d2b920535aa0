import type { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'

/** `id` is the id of the user. */
export const AccessRequesterEntity = entity({
  ...UserSummaryEntity.shape,
  requested_at: timestampOut,
}).meta({ id: 'AccessRequester' })

export interface LoadedRequest {
  user: User
  requested_at: string
}

export const presentRequester = (
  { user, requested_at }: LoadedRequest,
  around: Surroundings,
): z.infer<typeof AccessRequesterEntity> => ({ ...presentUserSummary(user, around), requested_at })
