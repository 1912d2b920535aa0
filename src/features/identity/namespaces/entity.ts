import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { presentUserSummary, type Surroundings } from '../users/entity.ts'

export const NamespaceEntity = entity({
  id: z.int(),
  name: z.string(),
  path: z.string(),
  kind: z.enum(['user', 'group']),
  full_path: z.string(),
  parent_id: z.int().nullable(),
  members_count_with_descendants: z.int().optional(),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
}).meta({ id: 'Namespace' })

export const NamespaceExistenceEntity = entity({
  exists: z.boolean(),
  suggests: z.array(z.string()),
}).meta({ id: 'NamespaceExistence' })

export interface LoadedNamespace extends Row<'namespaces'> {
  owner: User | null
  /** Members of a group and all its subgroups; null if the viewer may not see the number. */
  members: number | null
}

export function presentNamespace(namespace: LoadedNamespace, around: Surroundings): z.infer<typeof NamespaceEntity> {
  const { kind, full_path, members } = namespace
  return {
    id: namespace.id,
    name: namespace.name,
    path: namespace.path,
    kind,
    full_path,
    parent_id: namespace.parent_id,
    ...(members !== null && { members_count_with_descendants: members }),
    avatar_url: avatarUrl(namespace, around),
    web_url: kind === 'group' ? `${around.url}/groups/${full_path}` : `${around.url}/${full_path}`,
  }
}

function avatarUrl({ id, kind, owner, avatar_filename }: LoadedNamespace, around: Surroundings): string | null {
  if (kind === 'user') return owner && presentUserSummary(owner, around).avatar_url
  const file = avatar_filename && encodeURIComponent(avatar_filename)
  return file && `${around.url}/uploads/-/system/group/avatar/${id}/${file}`
}
