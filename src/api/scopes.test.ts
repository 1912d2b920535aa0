/** Every route × every scope: the gateway does what the declarations say, and these match the families' cases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { caseOf, endpointsByFamily, nameOf } from '../../test/endpoints.ts'
import { issueToken } from '../features/identity/tokens/service.ts'
import { startForge, type TestForge } from '../forge.ts'
import { SCOPES, scopesOf, type Scope } from './credentials.ts'
import type { Endpoint } from './endpoint.ts'

/** The scopes that open an endpoint according to its case. */
function meantFor(endpoint: Endpoint): readonly Scope[] {
  const { scope } = caseOf(endpoint)
  if (scope === 'any') return SCOPES
  const reads = endpoint.method === 'GET' && scope !== 'secret'
  return ['api', ...(reads ? ['read_api' as const] : []), ...(scope === 'read_user' ? [scope] : [])]
}

test.each(endpointsByFamily())('%s: endpoints are opened by the scopes their cases name', (_family, endpoints) => {
  const written = endpoints.map((endpoint) => [nameOf(endpoint), new Set(meantFor(endpoint))])
  const declared = endpoints.map((endpoint) => [nameOf(endpoint), new Set(scopesOf(endpoint))])
  expect(declared, 'if that is meant, write it into the cases.ts of the family').toEqual(written)
})

/** Ids that do not exist: a request that is let in finds nothing to act on. */
const address = ({ path }: Endpoint) => path.replace(/:\w+(\([^)]+\))?/g, '999999999').replace('*', 'nothing')

async function tokensFor(forge: TestForge): Promise<Map<Scope, string>> {
  const tokens = new Map<Scope, string>()
  for (const scope of SCOPES) {
    // An administrator, so that a rejection can only be due to the scope.
    const { id } = await forge.user({ admin: true })
    const { secret } = await issueToken(forge.app, id, 'personal', { name: scope, scopes: [scope] })
    tokens.set(scope, secret)
  }
  return tokens
}

async function ask(forge: TestForge, endpoint: Endpoint, token: string) {
  const { status, body } = await forge.as({ 'PRIVATE-TOKEN': token }).request(endpoint.method, address(endpoint))
  const failed = status === 401 || status >= 500
  return failed || body?.error === 'insufficient_scope' ? [status, body] : 'let in'
}

describe('the gateway lets in exactly the scopes an endpoint declares', () => {
  let forge: TestForge
  let lasting: Map<Scope, string>
  beforeAll(async () => {
    forge = await startForge()
    lasting = await tokensFor(forge)
  })
  afterAll(() => forge[Symbol.asyncDispose]())

  test.each(endpointsByFamily())('%s', async (_family, endpoints) => {
    for (const endpoint of endpoints) {
      const accepted = scopesOf(endpoint)
      const refusal = {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: accepted.join(' '),
      }
      // Some requests revoke the token they use.
      const tokens = /\/self|\/user\/revoke/.test(endpoint.path) ? await tokensFor(forge) : lasting
      const asked = SCOPES.map(async (scope) => [scope, await ask(forge, endpoint, tokens.get(scope)!)])
      const expected = SCOPES.map((scope) => [scope, accepted.includes(scope) ? 'let in' : [403, refusal]])
      expect(await Promise.all(asked), nameOf(endpoint)).toEqual(expected)
    }
  })
})
