import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const DirectoryLinkEntity = entity({
  cn: z.string().nullable(),
  group_access: z.int(),
  provider: z.string(),
  filter: z.string().nullable(),
}).meta({ id: 'DirectoryLink' })

export const presentLink = ({
  cn,
  filter,
  group_access,
  provider,
}: Row<'ldap_group_links'>): z.infer<typeof DirectoryLinkEntity> => ({
  cn: cn || null,
  group_access,
  provider,
  filter: filter || null,
})
