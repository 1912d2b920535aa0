import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const EmailEntity = entity({
  id: z.int(),
  email: z.string(),
  confirmed_at: timestampOut,
}).meta({ id: 'Email' })

/** An added address is usable at once, so it counts as confirmed from then on. */
export function presentEmail({ id, email, created_at }: Row<'emails'>): z.infer<typeof EmailEntity> {
  return { id, email, confirmed_at: created_at }
}
