import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import {
  CALLBACK,
  codeFor,
  exchangeCode,
  oauthPost,
  pkcePair,
  registerApplication,
  type OAuthReply,
  type Registered,
} from '../../../../test/oauth.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'

async function ready(input: Record<string, unknown> = {}) {
  const forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const app = await registerApplication(forge, input)
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  return { forge, jane, app, browser, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}

const bearer = (forge: TestForge, token: string) => forge.as({ Authorization: `Bearer ${token}` })
const works = async (forge: TestForge, token: string) => (await bearer(forge, token).get('/user')).status === 200

const REVOKED = {
  error: 'invalid_token',
  error_description: 'Token was revoked. You have to re-authorize from the user.',
}

function expectRefused({ status, body, headers }: OAuthReply, error: string): void {
  expect([status, body]).toEqual([401, { error, error_description: expect.any(String) }])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('www-authenticate')).toBe(
    `Bearer realm="Mortise", error="${error}", error_description="${body.error_description}"`,
  )
}

const refresh = (forge: TestForge, { client_id, client_secret }: Registered, refresh_token: string, more = {}) =>
  oauthPost(forge, 'token', { grant_type: 'refresh_token', client_id, client_secret, refresh_token, ...more })

test('a code is refused to the wrong client, address, secret and time, and still serves the right one', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const other = await registerApplication(forge)
  const code = await codeFor(browser, app)
  const table: [Record<string, string>, string][] = [
    [{ client_id: other.client_id, client_secret: other.client_secret }, 'invalid_grant'],
    [{ client_secret: other.client_secret }, 'invalid_client'],
    [{ client_secret: '' }, 'invalid_client'],
    [{ client_id: 'nobody' }, 'invalid_client'],
    [{ client_id: '' }, 'invalid_client'],
    [{ code: 'x'.repeat(64) }, 'invalid_grant'],
    [{ code: '' }, 'invalid_request'],
    [{ redirect_uri: 'https://app.example/other' }, 'invalid_grant'],
    [{ redirect_uri: '' }, 'invalid_grant'],
    // A verifier without a stored challenge: the challenge was removed on the way.
    [{ code_verifier: pkcePair().verifier }, 'invalid_grant'],
    [{ grant_type: '' }, 'invalid_request'],
    [{ grant_type: 'magic' }, 'unsupported_grant_type'],
    [{ grant_type: '__proto__' }, 'unsupported_grant_type'],
  ]
  for (const [more, error] of table) expectRefused(await exchangeCode(forge, app, code, more), error)
  expect(await forge.app.db.selectFrom('oauth_tokens').selectAll().execute()).toEqual([])

  forge.clock.advance(590_000)
  expect((await exchangeCode(forge, app, code)).status).toBe(200)
  const late = await codeFor(browser, app)
  forge.clock.advance(600_000)
  expectRefused(await exchangeCode(forge, app, late), 'invalid_grant')
})

test('a code with a challenge needs its verifier', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const { verifier, challenge } = pkcePair()
  const plain = { code_challenge: verifier, code_challenge_method: 'plain' }
  for (const input of [challenge, plain, { code_challenge: verifier }] as Record<string, string>[]) {
    const code = await codeFor(browser, app, input)
    expectRefused(await exchangeCode(forge, app, code), 'invalid_grant')
    expectRefused(await exchangeCode(forge, app, code, { code_verifier: '' }), 'invalid_grant')
    expectRefused(await exchangeCode(forge, app, code, { code_verifier: pkcePair().verifier }), 'invalid_grant')
    const answer = await exchangeCode(forge, app, code, { code_verifier: verifier })
    expect(answer.status).toBe(200)
  }
  const hashed = await codeFor(browser, app, challenge)
  const direct = await exchangeCode(forge, app, hashed, { code_verifier: challenge.code_challenge })
  expectRefused(direct, 'invalid_grant')
})

test('a code used twice ends the tokens made from it', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const code = await codeFor(browser, app)
  const { body } = await exchangeCode(forge, app, code)
  const { body: second } = await refresh(forge, app, body.refresh_token)
  expect(await works(forge, second.access_token)).toBe(true)

  expectRefused(await exchangeCode(forge, app, code), 'invalid_grant')

  expect(await works(forge, second.access_token)).toBe(false)
  expectRefused(await refresh(forge, app, second.refresh_token), 'invalid_grant')
  // Also long after the code has expired.
  const again = await codeFor(browser, app)
  const { body: third } = await exchangeCode(forge, app, again)
  forge.clock.advance(3_600_000)
  expectRefused(await exchangeCode(forge, app, again), 'invalid_grant')
  expect(await works(forge, third.access_token)).toBe(false)
})

test('of exchanges side by side one wins at most, and none of its tokens outlives the rest', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const code = await codeFor(browser, app)
  const answers = await Promise.all([1, 2, 3, 4].map(() => exchangeCode(forge, app, code)))
  const won = answers.filter(({ status }) => status === 200)
  expect(won).toHaveLength(1)
  expect(await works(forge, won[0]!.body.access_token)).toBe(false)
})

test('a refresh gives a new pair and revokes the old one', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const { body: old } = await exchangeCode(forge, app, await codeFor(browser, app, { scope: 'api read_user' }))
  const other = await registerApplication(forge)
  expectRefused(await refresh(forge, other, old.refresh_token), 'invalid_grant')
  expectRefused(await refresh(forge, app, old.refresh_token, { client_secret: 'x' }), 'invalid_client')
  expectRefused(await refresh(forge, app, old.refresh_token, { client_id: '' }), 'invalid_grant')
  expectRefused(await refresh(forge, app, old.refresh_token, { scope: 'api openid' }), 'invalid_scope')
  expectRefused(await refresh(forge, app, old.access_token), 'invalid_grant')
  expectRefused(await refresh(forge, app, ''), 'invalid_request')
  expect(await works(forge, old.access_token)).toBe(true)

  const fresh = await refresh(forge, app, old.refresh_token)

  expect([fresh.status, fresh.body]).toEqual([
    200,
    {
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'bearer',
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      scope: 'api read_user',
      created_at: expect.any(Number),
    },
  ])
  expect(await works(forge, fresh.body.access_token)).toBe(true)
  const revoked = await bearer(forge, old.access_token).get('/user')
  expect([revoked.status, revoked.body]).toEqual([401, REVOKED])
  expect(revoked.headers.get('www-authenticate')).toContain('Bearer realm="Mortise", error="invalid_token"')
  const less = await refresh(forge, app, fresh.body.refresh_token, { scope: 'read_user' })
  expect(less.body.scope).toBe('read_user')
})

test('a refresh token used twice ends the whole chain', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const { body: first } = await exchangeCode(forge, app, await codeFor(browser, app))
  const { body: second } = await refresh(forge, app, first.refresh_token)
  const { body: third } = await refresh(forge, app, second.refresh_token)
  expect(await works(forge, third.access_token)).toBe(true)
  expectRefused(await refresh(forge, app, first.refresh_token), 'invalid_grant')
  expect(await works(forge, third.access_token)).toBe(false)
  expectRefused(await refresh(forge, app, third.refresh_token), 'invalid_grant')
})

test('a client proves itself by HTTP Basic as well', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const code = await codeFor(browser, app)
  const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
  const basic = (id: string, secret: string) => ({
    Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  expectRefused(await oauthPost(forge, 'token', fields, basic(app.client_id, 'wrong')), 'invalid_client')
  expectRefused(await oauthPost(forge, 'token', fields, { Authorization: 'Basic !' }), 'invalid_client')
  expect((await oauthPost(forge, 'token', fields, basic(app.client_id, app.client_secret))).status).toBe(200)
})

test('a renewed secret replaces the old one, a deleted application takes its tokens along', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app))
  const renewed = await forge.administrator.post(`/applications/${app.id}/renew-secret`)
  const code = await codeFor(browser, app)
  expectRefused(await exchangeCode(forge, app, code), 'invalid_client')
  const answer = await exchangeCode(forge, app, code, { client_secret: renewed.body.secret })
  expect(answer.status).toBe(200)
  await forge.administrator.delete(`/applications/${app.id}`)
  for (const token of [body.access_token, answer.body.access_token]) expect(await works(forge, token)).toBe(false)
})

test('the password grant, with and without a client', async () => {
  await using world = await ready({ scopes: 'read_user' })
  const { forge, app } = world
  const { client_id, client_secret } = app
  const fields = { grant_type: 'password', username: 'jane', password: PASSWORD }
  const plain = await oauthPost(forge, 'token', fields)
  expect(plain).toMatchObject({ status: 200, body: { scope: 'api', token_type: 'bearer' } })
  expect(await works(forge, plain.body.access_token)).toBe(true)
  const { body: next } = await oauthPost(forge, 'token', {
    grant_type: 'refresh_token',
    refresh_token: plain.body.refresh_token,
  })
  expect(await works(forge, next.access_token)).toBe(true)
  const withClient = await oauthPost(forge, 'token', { ...fields, client_id, client_secret })
  expect(withClient.body.scope).toBe('read_user')
  const byEmail = { grant_type: 'password', email: 'jane@example.com', password: PASSWORD, scope: 'read_user' }
  expect((await oauthPost(forge, 'token', byEmail)).body.scope).toBe('read_user')

  await forge.user({ username: 'blocked', password: PASSWORD, blocked: true })
  const factor = await forge.user({ username: 'factor', password: PASSWORD })
  await forge.app.db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', factor.id).execute()
  const table: [Record<string, string>, string][] = [
    [{ password: 'wrong horse' }, 'invalid_grant'],
    [{ username: 'nobody' }, 'invalid_grant'],
    [{ username: 'blocked' }, 'invalid_grant'],
    [{ username: 'factor' }, 'invalid_grant'],
    [{ password: '' }, 'invalid_request'],
    [{ username: '' }, 'invalid_request'],
    [{ scope: 'everything' }, 'invalid_scope'],
    [{ client_id, client_secret, scope: 'api' }, 'invalid_scope'],
    [{ client_id, client_secret: 'x' }, 'invalid_client'],
  ]
  for (const [more, error] of table) expectRefused(await oauthPost(forge, 'token', { ...fields, ...more }), error)
})

test('the password grant is throttled like every sign-in', async () => {
  await using world = await ready()
  const { forge } = world
  const guess = (n: number) =>
    oauthPost(forge, 'token', { grant_type: 'password', username: `nobody${n}`, password: PASSWORD })
  for (let n = 0; n < 10; n++) expect((await guess(n)).status).toBe(401)
  expect((await guess(10)).status).toBe(429)
})

test('client credentials give a token without a user, which is nobody on the API', async () => {
  await using world = await ready()
  const { forge, app } = world
  const { client_id, client_secret } = app
  const fields = { grant_type: 'client_credentials', client_id, client_secret }
  const answer = await oauthPost(forge, 'token', fields)
  expect([answer.status, answer.body]).toEqual([
    200,
    { access_token: expect.any(String), token_type: 'bearer', scope: 'api', created_at: expect.any(Number) },
  ])
  const called = await bearer(forge, answer.body.access_token).get('/user')
  expect([called.status, called.body]).toEqual([401, { message: '401 Unauthorized' }])
  expectRefused(await oauthPost(forge, 'token', { ...fields, client_secret: 'x' }), 'invalid_client')
  expectRefused(await oauthPost(forge, 'token', { grant_type: 'client_credentials' }), 'invalid_client')
  const open = await registerApplication(forge, { confidential: false })
  const asOpen = { grant_type: 'client_credentials', client_id: open.client_id }
  expectRefused(await oauthPost(forge, 'token', asOpen), 'unauthorized_client')
})

test('a blocked user gets no token and loses the use of those there are', async () => {
  await using world = await ready()
  const { forge, jane, app, browser } = world
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app))
  const code = await codeFor(browser, app)
  await forge.administrator.post(`/users/${jane.id}/block`)
  const called = await bearer(forge, body.access_token).get('/user')
  expect([called.status, called.body]).toEqual([401, { message: '401 Unauthorized' }])
  expectRefused(await exchangeCode(forge, app, code), 'invalid_grant')
  expectRefused(await refresh(forge, app, body.refresh_token), 'invalid_grant')
})

test('bearers: personal tokens work, expired and unknown ones are told apart', async () => {
  await using world = await ready()
  const { forge, jane, app, browser } = world
  expect(await works(forge, jane.token)).toBe(true)
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app))
  const unknown = await bearer(forge, 'f'.repeat(64)).get('/users', { username: 'jane' })
  expect([unknown.status, unknown.body]).toEqual([401, { message: '401 Unauthorized' }])
  expect((await bearer(forge, body.refresh_token).get('/user')).status).toBe(401)
  const sudo = await bearer(forge, body.access_token).get('/user', { sudo: 'root' })
  expect(sudo.status).toBe(403)

  await forge.app.db.updateTable('oauth_tokens').set({ expires_at: forge.clock.now().toISOString() }).execute()
  const expired = await bearer(forge, body.access_token).get('/user')
  expect([expired.status, expired.body]).toEqual([
    401,
    {
      error: 'invalid_token',
      error_description: 'Token is expired. You can either do re-authorization or token refresh.',
    },
  ])
  expect((await refresh(forge, app, body.refresh_token)).status).toBe(200)
})

test('token info says what a token is worth', async () => {
  await using world = await ready()
  const { forge, jane, app, browser } = world
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app, { scope: 'api read_user' }))
  const info = async (headers: Record<string, string>, query = '') => {
    const answer = await fetch(`${forge.url}/oauth/token/info${query}`, { headers })
    return { status: answer.status, headers: answer.headers, body: await answer.json() } as OAuthReply
  }
  const expected = {
    resource_owner_id: jane.id,
    scopes: ['api', 'read_user'],
    scope: ['api', 'read_user'],
    expires_in_seconds: null,
    expires_in: null,
    application: { uid: app.client_id },
    created_at: body.created_at,
  }
  const shown = { Authorization: `Bearer ${body.access_token}` }
  expect(await info(shown)).toMatchObject({ status: 200, body: expected })
  expect((await info({}, `?access_token=${body.access_token}`)).body).toEqual(expected)
  expectRefused(await info({}), 'invalid_request')
  expectRefused(await info({ Authorization: `Bearer ${'f'.repeat(64)}` }), 'invalid_request')
  expectRefused(await info({ Authorization: `Bearer ${body.refresh_token}` }), 'invalid_request')
  await refresh(forge, app, body.refresh_token)
  expectRefused(await info(shown), 'invalid_request')
})

test('revoking answers the same to everybody and obeys the client the token belongs to', async () => {
  await using world = await ready()
  const { forge, app, browser } = world
  const other = await registerApplication(forge)
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app))
  const revoke = (fields: Record<string, string>) => oauthPost(forge, 'revoke', fields)
  const own = { client_id: app.client_id, client_secret: app.client_secret }
  const foreign = { client_id: other.client_id, client_secret: other.client_secret }
  const token = body.access_token as string
  const powerless = [{}, { token: 'x' }, { token }, { token, ...foreign }, { token, ...own, client_secret: 'x' }]
  for (const fields of powerless) {
    expect(await revoke(fields as Record<string, string>)).toMatchObject({ status: 200, body: {} })
  }
  expect(await works(forge, token)).toBe(true)
  expect(await revoke({ token, ...own })).toMatchObject({ status: 200, body: {} })
  expect(await works(forge, token)).toBe(false)
  expectRefused(await refresh(forge, app, body.refresh_token), 'invalid_grant')

  const fields = { grant_type: 'password', username: 'jane', password: PASSWORD }
  const { body: plain } = await oauthPost(forge, 'token', fields)
  await revoke({ token: plain.refresh_token })
  expect(await works(forge, plain.access_token)).toBe(false)
})

test('a client looks into its own tokens', async () => {
  await using world = await ready()
  const { forge, jane, app, browser } = world
  const other = await registerApplication(forge)
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app))
  const look = ({ client_id, client_secret }: Registered, token: string) =>
    oauthPost(forge, 'introspect', { client_id, client_secret, token })
  expect((await look(app, body.access_token)).body).toEqual({
    active: true,
    scope: 'api',
    client_id: app.client_id,
    token_type: 'bearer',
    iat: body.created_at,
    sub: String(jane.id),
  })
  expect((await look(app, 'x')).body).toEqual({ active: false })
  expect((await look(other, body.access_token)).body).toEqual({ active: false })
  expectRefused(await look({ ...app, client_secret: 'x' }, body.access_token), 'invalid_client')
  await refresh(forge, app, body.refresh_token)
  expect((await look(app, body.access_token)).body).toEqual({ active: false })
})
