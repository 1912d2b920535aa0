import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { BROADCAST_TYPES, THEMES, type BroadcastMessage } from './model.ts'

export const BroadcastMessageEntity = entity({
  id: z.int(),
  message: z.string(),
  starts_at: timestampOut,
  ends_at: timestampOut,
  color: z.string(),
  font: z.string(),
  active: z.boolean(),
  target_access_levels: z.array(z.int()),
  target_path: z.string().nullable(),
  broadcast_type: z.enum(BROADCAST_TYPES),
  theme: z.enum(THEMES),
  dismissable: z.boolean(),
}).meta({ id: 'BroadcastMessage' })

export function presentBroadcastMessage(row: BroadcastMessage, now: string): z.infer<typeof BroadcastMessageEntity> {
  return {
    id: row.id,
    message: row.message,
    starts_at: row.starts_at,
    ends_at: row.ends_at,
    color: row.color,
    font: row.font,
    active: row.starts_at <= now && now <= row.ends_at,
    target_access_levels: row.target_access_levels.split(',').filter(Boolean).map(Number),
    target_path: row.target_path,
    broadcast_type: row.broadcast_type,
    theme: row.theme,
    dismissable: row.dismissable,
  }
}
