import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'

/** `id` is the id of the user. */
export const MemberEntity = entity({
  ...UserSummaryEntity.shape,
  access_level: z.int(),
  expires_at: dateOut.nullable(),
  /** Absent if the level does not come from a membership: the owner of a personal project has none. */
  created_at: timestampOut.optional(),
  created_by: UserSummaryEntity.optional(),
  locked: z.boolean(),
  membership_state: z.literal('active'),
}).meta({ id: 'Member' })

export interface LoadedMember {
  user: User
  access_level: number
  expires_at: string | null
  created_at: string | null
  creator: User | null
}

export function presentMember(member: LoadedMember, around: Surroundings): z.infer<typeof MemberEntity> {
  const { user, access_level, expires_at, created_at, creator } = member
  return {
    ...presentUserSummary(user, around),
    access_level,
    expires_at,
    ...(created_at && { created_at }),
    ...(creator && { created_by: presentUserSummary(creator, around) }),
    locked: false,
    membership_state: 'active',
  }
}
