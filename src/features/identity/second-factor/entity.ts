import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'

export const SecondFactorEntity = entity({
  /** True with TOTP, passkeys or both. */
  enabled: z.boolean(),
  totp_enabled: z.boolean(),
  recovery_codes_left: z.int(),
  /** Deadline for a user who must set up a second factor. */
  required_until: timestampOut.nullable(),
  /** The group that requires it; null if the instance does. */
  required_by: z.string().nullable(),
}).meta({ id: 'SecondFactor' })

export const NewSecondFactorEntity = entity({
  secret: z.string(),
  otpauth_url: z.string(),
}).meta({ id: 'NewSecondFactor' })

export const RecoveryCodesEntity = entity({ recovery_codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' })
