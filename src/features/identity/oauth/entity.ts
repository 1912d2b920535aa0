import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

const application = {
  id: z.int(),
  application_id: z.string(),
  application_name: z.string(),
  callback_url: z.string(),
  confidential: z.boolean(),
}

export const ApplicationEntity = entity(application).meta({ id: 'Application' })

/** With the secret, which is shown only once, when it is created. */
export const ApplicationWithSecretEntity = entity({ ...application, secret: z.string() }).meta({
  id: 'ApplicationWithSecret',
})

export function presentApplication(application: Row<'oauth_applications'>): z.infer<typeof ApplicationEntity> {
  return {
    id: application.id,
    application_id: application.uid,
    application_name: application.name,
    callback_url: application.redirect_uri,
    confidential: application.confidential,
  }
}
