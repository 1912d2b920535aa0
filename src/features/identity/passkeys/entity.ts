import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

const passkey = {
  id: z.int(),
  name: z.string(),
  created_at: timestampOut,
  last_used_at: timestampOut.nullable(),
}

export const PasskeyEntity = entity(passkey).meta({ id: 'Passkey' })

/** With recovery codes if this is the user's first second factor. */
export const NewPasskeyEntity = entity({ ...passkey, recovery_codes: z.array(z.string()) }).meta({ id: 'NewPasskey' })

/** The options for the browser: the shape of `PublicKeyCredentialCreationOptionsJSON`. */
export const PasskeyOptionsEntity = entity({
  ticket: z.string(),
  options: z.record(z.string(), z.unknown()),
}).meta({ id: 'PasskeyOptions' })

export function presentPasskey({ id, name, created_at, last_used_at }: Row<'passkeys'>): z.infer<typeof PasskeyEntity> {
  return { id, name, created_at, last_used_at }
}
