import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const EmailEntity = entity({
  id: z.int(),
  email: z.string(),
  confirmed_at: timestampOut.nullable(),
}).meta({ id: 'Email' })

export function presentEmail({ id, email, confirmed_at }: Row<'emails'>): z.infer<typeof EmailEntity> {
  return { id, email, confirmed_at }
}
