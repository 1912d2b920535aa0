/** Every route × every scope: the gateway does what the declarations say, and they say what is written here by hand. */
import { expect, test } from 'vitest'
import { issueToken } from '../features/identity/tokens/service.ts'
import { families, v4 } from '../features/v4.ts'
import { startForge, type TestForge } from '../forge.ts'
import { SCOPES, scopesOf, type Scope } from './credentials.ts'
import type { Endpoint } from './endpoint.ts'

const nameOf = ({ method, path }: Endpoint) => `${method} ${path.replace(/\([^)]+\)/g, '')}`
const opened = (endpoints: readonly Endpoint[], scope: Scope) =>
  endpoints.filter((endpoint) => scopesOf(endpoint).includes(scope)).map(nameOf)

/** What a token of any scope may ask of itself. */
const SELF = ['GET /personal_access_tokens/self', 'DELETE /personal_access_tokens/self']

/** Reads whose answer holds secrets. */
const SECRET = [
  'GET /users/:user_id/impersonation_tokens',
  'GET /users/:user_id/impersonation_tokens/:impersonation_token_id',
  'GET /groups/:id/invitations',
  'GET /projects/:id/invitations',
]

/** `read_user` reads people and nothing else; families that are not here give it nothing. */
const READ_USER: Record<string, string[]> = {
  users: ['GET /users', 'GET /users/:id', 'GET /user'],
  keys: ['GET /user/keys', 'GET /user/keys/:key_id', 'GET /users/:id/keys', 'GET /users/:id/keys/:key_id'],
  gpgKeys: [
    'GET /user/gpg_keys',
    'GET /user/gpg_keys/:key_id',
    'GET /users/:id/gpg_keys',
    'GET /users/:id/gpg_keys/:key_id',
  ],
  emails: ['GET /user/emails', 'GET /user/emails/:email_id', 'GET /users/:id/emails'],
  tokens: SELF,
  activities: ['GET /user/activities'],
  version: ['GET /version', 'GET /metadata'],
}

const ADVICE = 'a family was added or its `scopes` changed: if that is meant, write it into the table of this test'

test('read_user opens what the table says, family by family', () => {
  const found = Object.entries(families).map(([family, endpoints]) => [
    family,
    opened(Object.values(endpoints), 'read_user').toSorted(),
  ])
  const expected = Object.keys(families).map((family) => [family, (READ_USER[family] ?? []).toSorted()])
  expect(found, ADVICE).toEqual(expected)
  expect(Object.keys(families), 'the table of this test names a family that is gone').toEqual(
    expect.arrayContaining(Object.keys(READ_USER)),
  )
})

test('the other scopes open everything, every read, or only the token itself', () => {
  const gets = v4.filter(({ method }) => method === 'GET').map(nameOf)
  const reads = gets.filter((name) => !SECRET.includes(name))
  expect(opened(v4, 'api')).toEqual(v4.map(nameOf))
  expect(new Set(opened(v4, 'read_api')), ADVICE).toEqual(new Set([...reads, ...SELF]))
  for (const scope of SCOPES.filter((one) => !['api', 'read_api', 'read_user'].includes(one))) {
    expect([scope, opened(v4, scope).toSorted()], ADVICE).toEqual([scope, SELF.toSorted()])
  }
})

/** Ids that nobody has: whatever a request is let in to do, it finds nothing to do it to. */
const address = ({ path }: Endpoint) => path.replace(/:\w+(\([^)]+\))?/g, '999999999').replace('*', 'nothing')

async function tokensFor(forge: TestForge, userId: number): Promise<Map<Scope, string>> {
  const tokens = new Map<Scope, string>()
  for (const scope of SCOPES) {
    const { secret } = await issueToken(forge.app, userId, 'personal', { name: scope, scopes: [scope] })
    tokens.set(scope, secret)
  }
  return tokens
}

async function ask(forge: TestForge, endpoint: Endpoint, token: string) {
  const { status, body } = await forge.as({ 'PRIVATE-TOKEN': token }).request(endpoint.method, address(endpoint))
  const failed = status === 401 || status >= 500
  return failed || body?.error === 'insufficient_scope' ? [status, body] : 'let in'
}

test('the gateway lets in exactly the scopes an endpoint declares', { timeout: 120_000 }, async () => {
  await using forge = await startForge()
  // An administrator: whoever is refused for another reason than the scope would prove nothing.
  const { id } = await forge.user({ admin: true })
  const lasting = await tokensFor(forge, id)
  for (const endpoint of v4) {
    const accepted = scopesOf(endpoint)
    const refusal = {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: accepted.join(' '),
    }
    // Some requests end the token they show.
    const tokens = endpoint.path.includes('/self') ? await tokensFor(forge, id) : lasting
    const asked = SCOPES.map(async (scope) => [scope, await ask(forge, endpoint, tokens.get(scope)!)])
    const expected = SCOPES.map((scope) => [scope, accepted.includes(scope) ? 'let in' : [403, refusal]])
    expect(await Promise.all(asked), nameOf(endpoint)).toEqual(expected)
  }
})
