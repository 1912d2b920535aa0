import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { AdministeredUserEntity, presentAdministeredUser, type LoadedUser, type Surroundings } from '../users/entity.ts'
import { USAGE_TYPES } from './model.ts'

const fields = {
  id: z.int(),
  title: z.string(),
  key: z.string(),
  created_at: timestampOut,
  expires_at: timestampOut.nullable(),
  usage_type: z.enum(USAGE_TYPES),
  last_used_at: timestampOut.nullable(),
}

export const KeyEntity = entity(fields).meta({ id: 'SshKey' })

/** A key as administrators see it, with its user if it has one. */
export const KeyWithUserEntity = entity({
  ...fields,
  can_push: z.boolean(),
  user: AdministeredUserEntity.omit({ is_admin: true }).nullable(),
  /** Set for a deploy key that was found by its fingerprint. */
  deploy_keys_projects: z
    .array(
      entity({
        id: z.int(),
        deploy_key_id: z.int(),
        project_id: z.int(),
        created_at: timestampOut,
        updated_at: timestampOut,
        can_push: z.boolean(),
      }),
    )
    .optional(),
}).meta({ id: 'SshKeyWithUser' })

export interface KeyWithUser extends Row<'keys'> {
  user: LoadedUser | null
}

export function presentKey(key: Row<'keys'>): z.infer<typeof KeyEntity> {
  return {
    id: key.id,
    title: key.title,
    key: key.key,
    created_at: key.created_at,
    expires_at: key.expires_at,
    usage_type: key.usage_type,
    last_used_at: key.last_used_at,
  }
}

export function presentKeyWithUser(key: KeyWithUser, around: Surroundings): z.infer<typeof KeyWithUserEntity> {
  return {
    ...presentKey(key),
    can_push: false, // a right of a deploy key in a project, never of a key itself
    user: key.user && presentOwner(key.user, around),
  }
}

export const presentDeployments = (links: readonly Row<'deploy_key_projects'>[]) =>
  links.map((link) => ({
    id: link.id,
    deploy_key_id: link.key_id,
    project_id: link.project_id,
    created_at: link.created_at,
    updated_at: link.updated_at,
    can_push: link.can_push,
  }))

function presentOwner(user: LoadedUser, around: Surroundings) {
  const { is_admin: _, ...owner } = presentAdministeredUser(user, around)
  return owner
}
