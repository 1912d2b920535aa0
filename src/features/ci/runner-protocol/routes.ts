/** Endpoints by which agents register and unregister as runners. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity, text, timestampOut } from '../../../api/wire.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import {
  createRunner,
  deleteManager,
  deleteRunner,
  noteContact,
  noteRegistered,
  resetRunnerToken,
} from '../runners/service.ts'
import { registrationToken, runnerToken } from './credentials.ts'
import { info, runnerFields } from './input.ts'

const CredentialsEntity = entity({
  id: z.int(),
  token: z.string(),
  token_expires_at: timestampOut.nullable(),
}).meta({ id: 'RunnerCredentials' })

const TokenEntity = entity({ token: z.string(), token_expires_at: timestampOut.nullable() }).meta({ id: 'RunnerToken' })

export const register = endpoint({
  method: 'POST',
  path: '/runners',
  summary: 'Register a runner by a registration token',
  by: registrationToken,
  allow: 'anyone',
  input: z.object({ info, ...runnerFields }),
  output: CredentialsEntity,
  async handle({ app, credential: { scope }, input, caller }) {
    const { info, ...options } = input
    const { allow_runner_registration_token: isAllowed, valid_runner_registrars: who } = await currentSettings(app)
    const kind = scope.runner_type === 'group_type' ? 'group' : 'project'
    if (!isAllowed) throw new Refusal('gone', '410 Gone - Runner registration disallowed')
    if (scope.runner_type !== 'instance_type' && !who.includes(kind))
      throw forbidden(`${kind} runner registration disabled`)
    const made = await createRunner(app, scope, options)
    await noteRegistered(app, made.runner, { info, address: caller.address })
    return { id: made.runner.id, token: made.token, token_expires_at: made.runner.token_expires_at }
  },
})

export const verify = endpoint({
  method: 'POST',
  path: '/runners/verify',
  summary: 'Verify the token of a runner',
  by: runnerToken,
  allow: 'anyone',
  input: z.object({ system_id: text.nullish(), info }),
  output: CredentialsEntity,
  status: 200,
  async handle({ app, credential: { runner, token }, input, caller }) {
    await noteContact(app, runner, { ...input, address: caller.address })
    return { id: runner.id, token, token_expires_at: runner.token_expires_at }
  },
})

export const unregister = endpoint({
  method: 'DELETE',
  path: '/runners',
  summary: 'Delete a runner by its token',
  by: runnerToken,
  allow: 'anyone',
  output: null,
  async handle({ app, credential }) {
    await deleteRunner(app, credential.runner)
  },
})

export const unregisterManager = endpoint({
  method: 'DELETE',
  path: '/runners/managers',
  summary: 'Delete one manager of a runner by the token of the runner',
  by: runnerToken,
  allow: 'anyone',
  input: z.object({ system_id: text }),
  output: null,
  async handle({ app, credential, input }) {
    if (!(await deleteManager(app, credential.runner, input.system_id))) throw notFound()
  },
})

export const resetToken = endpoint({
  method: 'POST',
  path: '/runners/reset_authentication_token',
  summary: 'Reset the token of a runner, with its current token',
  by: runnerToken,
  allow: 'anyone',
  output: TokenEntity,
  handle: ({ app, credential }) => resetRunnerToken(app, credential.runner),
})
