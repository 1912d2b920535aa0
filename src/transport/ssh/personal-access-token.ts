/**
 * Creates a token for the owner of the key: `ssh git@host personal_access_token <name> <scope1[,scope2,...]>
 * [ttl_days]`.
 */
import type { Writable } from 'node:stream'
import { DAY, after } from '../../clock.ts'
import type { App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { grantableScopes } from '../../features/identity/tokens/policy.ts'
import { createToken } from '../../features/identity/tokens/service.ts'
import { personOf, type Principal } from '../principal.ts'

const USAGE = 'Usage: personal_access_token <name> <scope1[,scope2,...]> [ttl_days]'
const USUAL_DAYS = 30
const MOST_DAYS = 3650

const refused = (text: string) => new Refusal('forbidden', text)

export async function makeToken(
  app: App,
  principal: Principal,
  [name, list, days, ...more]: readonly string[],
  { output }: { output: Writable },
): Promise<number> {
  const user = personOf(principal)
  if (!user) throw refused('Could not find a user for the given key')
  if (!name || !list || more.length > 0) throw refused(USAGE)
  const scopes = list.split(',')
  const grantable = grantableScopes(user, { identity: null, address: '' })
  const unknown = scopes.find((scope) => !grantable.some((one) => one === scope))
  if (unknown !== undefined) throw refused(`Invalid scope: '${unknown}'. Valid scopes are: ${grantable.join(', ')}`)
  const lasts = days === undefined ? USUAL_DAYS : Number(days)
  if (!/^\d{0,4}$/.test(days ?? '') || lasts < 1 || lasts > MOST_DAYS)
    throw refused(`Invalid value for ttl_days: '${days}'`)
  const expires_at = after(app.clock, lasts * DAY).slice(0, 10)
  const { token, secret } = await createToken(app, user, 'personal', { name, scopes, expires_at }, grantable)
  output.write(`Token:   ${secret}\nScopes:  ${scopes.join(',')}\nExpires: ${token.expires_at}\n`)
  return 0
}
