import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { html } from '../../../lib/text/html.ts'
import type { Row } from '../../../store/database.ts'
import { AVAILABILITIES } from './model.ts'

export const UserStatusEntity = entity({
  emoji: z.string().nullable(),
  message: z.string().nullable(),
  availability: z.enum(AVAILABILITIES).nullable(),
  message_html: z.string().nullable(),
  clear_status_at: timestampOut.nullable(),
}).meta({ id: 'UserStatus' })

export const presentStatus = (status: Row<'user_statuses'> | null): z.infer<typeof UserStatusEntity> => ({
  emoji: status?.emoji ?? null,
  message: status?.message ?? null,
  availability: status?.availability ?? null,
  message_html: status && html`${status.message}`.toString(),
  clear_status_at: status?.clear_at ?? null,
})
