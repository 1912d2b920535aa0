import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import {
  PROJECT_CREATION_LEVELS,
  SUBGROUP_CREATION_LEVELS,
  type ProjectCreationLevel,
  type SubgroupCreationLevel,
} from '../../identity/namespaces/model.ts'
import { ProjectEntity, SimpleProjectEntity } from '../../projects/projects/entity.ts'
import { CustomAttributeEntity } from '../../identity/custom-attributes.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'

/** A short form: only the names and paths of the group. */
export const PublicGroupEntity = entity({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  avatar_url: z.string().nullable(),
  full_name: z.string(),
  full_path: z.string(),
}).meta({ id: 'PublicGroup' })

export const PROJECT_CREATION = Object.keys(PROJECT_CREATION_LEVELS) as ProjectCreationLevel[]
export const SUBGROUP_CREATION = Object.keys(SUBGROUP_CREATION_LEVELS) as SubgroupCreationLevel[]

const common = {
  id: z.int(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility: z.enum(VISIBILITIES),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
  request_access_enabled: z.boolean(),
  full_name: z.string(),
  full_path: z.string(),
  parent_id: z.int().nullable(),
  created_at: timestampOut,
  share_with_group_lock: z.boolean(),
  membership_lock: z.boolean(),
  lfs_enabled: z.boolean(),
  project_creation_level: z.enum(PROJECT_CREATION),
  subgroup_creation_level: z.enum(SUBGROUP_CREATION),
  require_two_factor_authentication: z.boolean(),
  two_factor_grace_period: z.int(),
  emails_disabled: z.boolean(),
  emails_enabled: z.boolean(),
  auto_devops_enabled: z.boolean().nullable(),
  /** The day of the deletion, for a group in the bin. */
  marked_for_deletion_on: dateOut.nullable(),
}

/** A group in a list. */
export const GroupEntity = entity({
  ...common,
  /** For a group in the bin. Null after the removal of the user. */
  deleted_by: UserSummaryEntity.nullable().optional(),
  /** Present with `with_custom_attributes`, for administrators. */
  custom_attributes: z.array(CustomAttributeEntity).optional(),
  statistics: entity({
    storage_size: z.int(),
    repository_size: z.int(),
    lfs_objects_size: z.int(),
    job_artifacts_size: z.int(),
  }).optional(),
}).meta({ id: 'Group' })

const sharedWithGroup = entity({
  group_id: z.int(),
  group_name: z.string(),
  group_full_path: z.string(),
  group_access_level: z.int(),
  expires_at: dateOut.nullable(),
})

const projects = z.array(z.union([ProjectEntity, SimpleProjectEntity])).optional()

/** A single group. */
export const GroupDetailsEntity = entity({
  ...common,
  shared_with_groups: z.array(sharedWithGroup),
  projects,
  shared_projects: projects,
  shared_runners_minutes_limit: z.int().nullable(),
}).meta({ id: 'GroupDetails' })

export type GroupDetails = z.infer<typeof GroupDetailsEntity>

type Group = Row<'namespaces'>

export interface Sizes {
  readonly repository_size: number
  readonly lfs_objects_size: number
  readonly job_artifacts_size: number
}

export const presentPublicGroup = (group: Group, url: string): z.infer<typeof PublicGroupEntity> => ({
  id: group.id,
  web_url: webUrl(group, url),
  name: group.name,
  avatar_url: avatarUrl(group, url),
  full_name: group.full_name,
  full_path: group.full_path,
})

const presentCommon = (group: Group, url: string) => ({
  id: group.id,
  name: group.name,
  path: group.path,
  description: group.description,
  visibility: group.visibility,
  avatar_url: avatarUrl(group, url),
  web_url: webUrl(group, url),
  request_access_enabled: group.request_access_enabled,
  full_name: group.full_name,
  full_path: group.full_path,
  parent_id: group.parent_id,
  created_at: group.created_at,
  share_with_group_lock: group.share_with_group_lock,
  membership_lock: group.membership_lock,
  lfs_enabled: group.lfs_enabled,
  project_creation_level: group.project_creation_level,
  subgroup_creation_level: group.subgroup_creation_level,
  require_two_factor_authentication: group.require_two_factor_authentication,
  two_factor_grace_period: group.two_factor_grace_period,
  emails_disabled: group.emails_disabled,
  emails_enabled: !group.emails_disabled,
  auto_devops_enabled: group.auto_devops_enabled,
  marked_for_deletion_on: group.marked_for_deletion_at?.slice(0, 10) ?? null,
})

export function presentGroup(group: Group, url: string, sizes?: Sizes): z.infer<typeof GroupEntity> {
  return { ...presentCommon(group, url), ...(sizes && { statistics: presentStatistics(sizes) }) }
}

export function presentGroupDetails(
  group: Group,
  url: string,
): Omit<GroupDetails, 'shared_with_groups' | 'projects' | 'shared_projects'> {
  return { ...presentCommon(group, url), shared_runners_minutes_limit: group.shared_runners_minutes_limit }
}

export interface ShareOfGroup extends Pick<Row<'group_shares'>, 'group_access' | 'expires_at'> {
  readonly shared_with: Pick<Group, 'id' | 'name' | 'full_path'>
}

export const presentShareOfGroup = ({
  shared_with,
  group_access,
  expires_at,
}: ShareOfGroup): z.infer<typeof sharedWithGroup> => ({
  group_id: shared_with.id,
  group_name: shared_with.name,
  group_full_path: shared_with.full_path,
  group_access_level: group_access,
  expires_at,
})

const presentStatistics = ({ repository_size, lfs_objects_size, job_artifacts_size }: Sizes) => ({
  storage_size: repository_size + lfs_objects_size + job_artifacts_size,
  repository_size,
  lfs_objects_size,
  job_artifacts_size,
})

const webUrl = ({ full_path }: Group, url: string) => `${url}/groups/${full_path}`

const avatarUrl = ({ id, avatar_filename: file }: Group, url: string) =>
  file && `${url}/uploads/-/system/group/avatar/${id}/${encodeURIComponent(file)}`
