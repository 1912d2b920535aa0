import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { PROCESS_MODES, type ResourceGroup } from './model.ts'

export const ResourceGroupEntity = entity({
  id: z.int(),
  key: z.string(),
  process_mode: z.enum(PROCESS_MODES),
  created_at: timestampOut,
  updated_at: timestampOut,
}).meta({ id: 'ResourceGroup' })

export const presentResourceGroup = (group: ResourceGroup): z.infer<typeof ResourceGroupEntity> => ({
  id: group.id,
  key: group.key,
  process_mode: group.process_mode,
  created_at: group.created_at,
  updated_at: group.updated_at,
})
