import { toDate } from '../lib/time/dates.ts'
import { operatorOn, onInstance, findUserByName } from './user.ts'
import { Misuse, required, type Verb } from './verb.ts'

const create: Verb = {
  summary: 'Create a personal access token and print it',
  flags: {
    user: { value: 'USERNAME', help: 'owner of the token (required)' },
    name: { value: 'NAME', help: 'name of the token (required)' },
    scopes: { value: 'SCOPES', help: 'comma-separated, e.g. api,read_user (required)' },
    expires: { value: 'DATE', help: 'expiration date, e.g. 2030-01-31 (default: the latest date allowed)' },
  },
  run: (call) =>
    onInstance(call, async (app) => {
      const { createToken } = await import('../features/identity/tokens/service.ts')
      const { grantableScopes } = await import('../features/identity/tokens/policy.ts')
      const [name, scopes] = [required(call, 'name'), required(call, 'scopes').split(',')]
      const user = await findUserByName(app, required(call, 'user'))
      const grantable = grantableScopes(await operatorOn(app, user), { identity: null, address: 'local' })
      const input = { name, scopes: scopes.map((scope) => scope.trim()), expires_at: dateOf(call.flags.expires) }
      const { secret } = await createToken(app, user, 'personal', input, grantable)
      console.log(secret)
    }),
}

const rotate: Verb = {
  summary: 'Replace the private token of a user and print the new one',
  flags: { user: { value: 'USERNAME', help: 'owner of the token (required)' } },
  run: (call) =>
    onInstance(call, async (app) => {
      const { replacePrivateToken } = await import('../features/identity/tokens/service.ts')
      console.log(await replacePrivateToken(app, await findUserByName(app, required(call, 'user'))))
    }),
}

function dateOf(given: string | undefined): string | null {
  if (given === undefined) return null
  const date = toDate(given)
  if (!date) throw new Misuse('--expires must be a date, e.g. 2030-01-31')
  return date
}

export const token: Record<string, Verb> = { 'token create': create, 'token rotate': rotate }
