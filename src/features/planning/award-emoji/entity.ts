import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { AwardEmoji } from './model.ts'
import type { Awardable } from './awardable.ts'

export const AwardEmojiEntity = entity({
  id: z.int(),
  name: z.string(),
  user: UserSummaryEntity,
  created_at: timestampOut,
  updated_at: timestampOut,
  awardable_id: z.int(),
  awardable_type: z.enum(['Issue', 'MergeRequest', 'Note', 'Snippet']),
  url: z.null(),
}).meta({ id: 'AwardEmoji' })

export function presentAward(
  award: AwardEmoji & { readonly user: User },
  awardable: Pick<Awardable, 'id' | 'type'>,
  around: Surroundings,
): z.infer<typeof AwardEmojiEntity> {
  return {
    id: award.id,
    name: award.name,
    user: presentUserSummary(award.user, around),
    created_at: award.created_at,
    updated_at: award.updated_at,
    awardable_id: awardable.id,
    awardable_type: awardable.type,
    url: null,
  }
}
