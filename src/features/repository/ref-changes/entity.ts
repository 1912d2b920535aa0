import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { RefChange } from './model.ts'

export const RefChangeEntity = entity({
  id: z.int(),
  ref: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  user: UserSummaryEntity.nullable(),
  created_at: timestampOut,
  current: z.boolean().describe('Whether this is the latest change of the ref'),
}).meta({ id: 'RefChange' })

export const WikiChangeEntity = RefChangeEntity.extend({
  message: z.string().nullable().describe('The first line of the newest commit; null after the deletion of the ref'),
}).meta({ id: 'WikiChange' })

export interface LoadedRefChange extends RefChange {
  readonly user: User | null
  readonly current: boolean
}

export function presentRefChange(change: LoadedRefChange, around: Surroundings): z.infer<typeof RefChangeEntity> {
  return {
    id: change.id,
    ref: change.ref,
    before: change.before,
    after: change.after,
    user: change.user && presentUserSummary(change.user, around),
    created_at: change.created_at,
    current: change.current,
  }
}
