import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { presentPersonalToken, tokenFields } from '../../identity/tokens/entity.ts'
import type { AccessToken } from '../../identity/tokens/model.ts'
import type { SourceColumns } from '../../access/members/model.ts'

const record = {
  ...tokenFields,
  access_level: z.int().nullable(),
  resource_type: z.enum(['project', 'group']),
  resource_id: z.int(),
}

export const ResourceTokenEntity = entity(record).meta({ id: 'ResourceAccessToken' })

/** The only answer that contains the value. */
export const NewResourceTokenEntity = entity({ ...record, token: z.string() }).meta({ id: 'NewResourceAccessToken' })

export interface LoadedToken extends AccessToken {
  /** Null if the bot is no longer a member. */
  readonly access_level: number | null
}

export function presentResourceToken(
  token: LoadedToken,
  { group_id, project_id }: SourceColumns,
  today: string,
): z.infer<typeof ResourceTokenEntity> {
  return {
    ...presentPersonalToken(token, today),
    access_level: token.access_level,
    resource_type: group_id === null ? 'project' : 'group',
    resource_id: (group_id ?? project_id)!,
  }
}
