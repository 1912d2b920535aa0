import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const DirectoryLinkEntity = entity({
  cn: z.string(),
  group_access: z.int(),
  provider: z.string(),
}).meta({ id: 'DirectoryLink' })

export const presentLink = ({
  cn,
  group_access,
  provider,
}: Row<'ldap_group_links'>): z.infer<typeof DirectoryLinkEntity> => ({ cn, group_access, provider })
