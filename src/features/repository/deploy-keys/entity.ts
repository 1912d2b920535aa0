import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { USAGE_TYPES } from '../../identity/keys/model.ts'
import type { EnabledKey } from './model.ts'
import type { KeyWithProjects, LinkedProject } from './queries.ts'

const fields = {
  id: z.int(),
  title: z.string(),
  key: z.string(),
  fingerprint: z.string(),
  fingerprint_sha256: z.string(),
  created_at: timestampOut,
  expires_at: timestampOut.nullable(),
  last_used_at: timestampOut.nullable(),
  usage_type: z.enum(USAGE_TYPES),
  can_push: z.boolean(),
}

export const DeployKeyEntity = entity(fields).meta({ id: 'DeployKey' })

const ProjectIdentityEntity = entity({
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: timestampOut,
}).meta({ id: 'ProjectIdentity' })

/** The record for administrators: the projects that use the key, and with which access. */
export const AdministeredDeployKeyEntity = entity({
  ...fields,
  projects_with_write_access: z.array(ProjectIdentityEntity),
  projects_with_readonly_access: z.array(ProjectIdentityEntity),
}).meta({ id: 'AdministeredDeployKey' })

const presentKey = (key: Row<'keys'>) => ({
  id: key.id,
  title: key.title,
  key: key.key,
  fingerprint: key.fingerprint,
  fingerprint_sha256: key.fingerprint_sha256,
  created_at: key.created_at,
  expires_at: key.expires_at,
  last_used_at: key.last_used_at,
  usage_type: key.usage_type,
})

export function presentDeployKey(key: EnabledKey): z.infer<typeof DeployKeyEntity> {
  return { ...presentKey(key), can_push: key.can_push }
}

export function presentAdministeredDeployKey(key: KeyWithProjects): z.infer<typeof AdministeredDeployKeyEntity> {
  const writing = key.projects.filter(({ can_push }) => can_push)
  const reading = key.projects.filter(({ can_push }) => !can_push)
  return {
    ...presentKey(key),
    can_push: writing.length > 0, // each project has its own right; older clients expect one for all
    projects_with_write_access: writing.map(presentProject),
    projects_with_readonly_access: reading.map(presentProject),
  }
}

function presentProject(project: LinkedProject): z.infer<typeof ProjectIdentityEntity> {
  return {
    id: project.id,
    description: project.description,
    name: project.name,
    name_with_namespace: `${project.owner_name ?? project.namespace_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: `${project.namespace_path}/${project.path}`,
    created_at: project.created_at,
  }
}
