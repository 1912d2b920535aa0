import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { BIN_KEYS, type DeletedItem } from './model.ts'

export const DeletedItemEntity = entity({
  id: z.int(),
  kind: z.enum(BIN_KEYS),
  iid: z.int().nullable(),
  title: z.string(),
  deleted_by: UserSummaryEntity.nullable(),
  deleted_at: timestampOut,
  restorable_until: timestampOut,
}).meta({ id: 'DeletedItem' })

export interface LoadedDeletedItem extends DeletedItem {
  readonly deleted_by: User | null
}

export const presentDeletedItem = (
  { id, kind, iid, title, deleted_by, deleted_at, due_at }: LoadedDeletedItem,
  around: Surroundings,
): z.infer<typeof DeletedItemEntity> => ({
  id,
  kind,
  iid,
  title,
  deleted_by: deleted_by && presentUserSummary(deleted_by, around),
  deleted_at,
  restorable_until: due_at,
})
