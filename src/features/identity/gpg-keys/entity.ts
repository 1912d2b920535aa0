import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const GpgKeyEntity = entity({
  id: z.int(),
  key: z.string(),
  created_at: timestampOut,
}).meta({ id: 'GpgKey' })

export function presentGpgKey({ id, key, created_at }: Row<'gpg_keys'>): z.infer<typeof GpgKeyEntity> {
  return { id, key, created_at }
}
