import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { presentApplication } from '../oauth/entity.ts'
import type { Application } from '../oauth/queries.ts'
import { toScopes } from '../oauth/scopes.ts'

const application = {
  id: z.int(),
  application_id: z.string(),
  application_name: z.string(),
  callback_url: z.string(),
  confidential: z.boolean(),
  scopes: z.array(z.string()),
  created_at: timestampOut,
}

export const OwnApplicationEntity = entity(application).meta({ id: 'OwnApplication' })

/** With the secret, which is shown only once, when it is created. */
export const OwnApplicationWithSecretEntity = entity({ ...application, secret: z.string() }).meta({
  id: 'OwnApplicationWithSecret',
})

export function presentOwnApplication(application: Application): z.infer<typeof OwnApplicationEntity> {
  return {
    ...presentApplication(application),
    scopes: toScopes(application.scopes),
    created_at: application.created_at,
  }
}
