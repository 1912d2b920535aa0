import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { filledText, text } from '../../../api/wire.ts'
import { profile } from '../users/queries.ts'
import { NewSecondFactorEntity, RecoveryCodesEntity, SecondFactorEntity } from './entity.ts'
import {
  beginSecondFactor,
  confirmSecondFactor,
  endSecondFactor,
  removeSecondFactors,
  renewRecoveryCodes,
  secondFactorOf,
} from './service.ts'

const coded = z.object({ code: filledText })

export const get = endpoint({
  method: 'GET',
  path: '/user/second_factor',
  summary: 'Get the two-factor authentication status of the signed-in user',
  allow: 'signed_in',
  duringRequiredStep: true,
  output: SecondFactorEntity,
  handle: ({ app, viewer }) => secondFactorOf(app, viewer),
})

export const begin = endpoint({
  method: 'POST',
  path: '/user/second_factor',
  summary: 'Start setting up two-factor authentication: returns the secret',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: z.object({ password: filledText }),
  output: NewSecondFactorEntity,
  async handle({ app, viewer, input }) {
    return beginSecondFactor(app, viewer, input.password)
  },
})

export const confirm = endpoint({
  method: 'POST',
  path: '/user/second_factor/confirm',
  summary: 'Enable two-factor authentication with a first code; returns recovery codes',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: coded,
  output: RecoveryCodesEntity,
  async handle({ app, viewer, input }) {
    return { recovery_codes: await confirmSecondFactor(app, viewer, input.code) }
  },
})

export const renew = endpoint({
  method: 'POST',
  path: '/user/second_factor/recovery_codes',
  summary: 'Generate new recovery codes, with a code or the password',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: z.object({ code: text.nullish(), password: text.nullish() }),
  output: RecoveryCodesEntity,
  async handle({ app, viewer, input }) {
    return { recovery_codes: await renewRecoveryCodes(app, viewer, input) }
  },
})

export const remove = endpoint({
  method: 'DELETE',
  path: '/user/second_factor',
  summary: 'Disable the authenticator app; passkeys are kept',
  allow: 'signed_in',
  inPerson: true,
  duringRequiredStep: true,
  input: coded,
  output: null,
  async handle({ app, viewer, input }) {
    await endSecondFactor(app, viewer, input.code)
  },
})

export const disable = endpoint({
  method: 'PATCH',
  path: '/users/:user_id/disable_two_factor',
  summary: 'Disable two-factor authentication of a user',
  on: profile,
  allow: 'administrator',
  output: null,
  async handle({ app, subject }) {
    await removeSecondFactors(app, subject.user)
  },
})
