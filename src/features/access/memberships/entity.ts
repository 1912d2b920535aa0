import { z } from 'zod'
import { entity } from '../../../api/wire.ts'

export const SOURCE_TYPES = ['Project', 'Namespace'] as const
export type SourceType = (typeof SOURCE_TYPES)[number]

export const MembershipEntity = entity({
  source_id: z.int(),
  source_name: z.string(),
  source_type: z.enum(SOURCE_TYPES),
  access_level: z.int(),
}).meta({ id: 'Membership' })

/** A membership of a project or of a group. */
export interface LoadedMembership {
  readonly access_level: number
  readonly project_id: number | null
  readonly group_id: number | null
  readonly project_name: string | null
  readonly group_name: string | null
}

export const presentMembership = (one: LoadedMembership): z.infer<typeof MembershipEntity> => ({
  source_id: (one.project_id ?? one.group_id)!,
  source_name: (one.project_name ?? one.group_name)!,
  source_type: one.project_id === null ? 'Namespace' : 'Project',
  access_level: one.access_level,
})
