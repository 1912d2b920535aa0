import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { ChatName } from './model.ts'

export const ChatNameEntity = entity({
  id: z.int(),
  service_id: z.int(),
  team_id: z.string(),
  team_domain: z.string().nullable(),
  chat_id: z.string(),
  chat_name: z.string().nullable(),
  created_at: timestampOut,
  last_used_at: timestampOut.nullable(),
}).meta({ id: 'ChatName' })

export const presentChatName = (name: ChatName): z.infer<typeof ChatNameEntity> => ({
  id: name.id,
  service_id: name.service_id,
  team_id: name.team_id,
  team_domain: name.team_domain,
  chat_id: name.chat_id,
  chat_name: name.chat_name,
  created_at: name.created_at,
  last_used_at: name.last_used_at,
})
