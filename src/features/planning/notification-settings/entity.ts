import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { CUSTOM_EVENTS, LEVELS } from './model.ts'
import type { NotificationPreference } from './queries.ts'

const custom = Object.keys(CUSTOM_EVENTS) as (keyof typeof CUSTOM_EVENTS)[]
const setting = {
  level: z.enum(LEVELS),
  /** Only with the level `custom`. */
  events: entity(
    Object.fromEntries(custom.map((name) => [name, z.boolean()])) as Record<(typeof custom)[number], z.ZodBoolean>,
  ).optional(),
}

export const NotificationSettingEntity = entity(setting).meta({ id: 'NotificationSetting' })

export const GlobalNotificationSettingEntity = entity({
  ...setting,
  notification_email: z.string(),
  /** Whether users are notified of their own activity. */
  notified_of_own_activity: z.boolean(),
}).meta({
  id: 'GlobalNotificationSetting',
})

export const presentNotificationSetting = ({
  level,
  events,
}: NotificationPreference): z.infer<typeof NotificationSettingEntity> => ({
  level,
  ...(level === 'custom' && { events }),
})
