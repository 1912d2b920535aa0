import { z } from 'zod'
import { dateOut, entity } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const GroupLinkEntity = entity({
  id: z.int(),
  project_id: z.int(),
  group_id: z.int(),
  group_access: z.int(),
  expires_at: dateOut.nullable(),
}).meta({ id: 'GroupLink' })

export const presentGroupLink = (link: Row<'project_shares'>): z.infer<typeof GroupLinkEntity> => ({
  id: link.id,
  project_id: link.project_id,
  group_id: link.group_id,
  group_access: link.group_access,
  expires_at: link.expires_at,
})
