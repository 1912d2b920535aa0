import type { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'

export const StarrerEntity = entity({ starred_since: timestampOut, user: UserSummaryEntity }).meta({ id: 'Starrer' })

export interface LoadedStar {
  readonly created_at: string
  readonly user: User
}

export const presentStarrer = (
  { created_at, user }: LoadedStar,
  around: Surroundings,
): z.infer<typeof StarrerEntity> => ({
  starred_since: created_at,
  user: presentUserSummary(user, around),
})
