import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { codeFor, exchangeCode, oauthPost, registerApplication } from '../../../../test/oauth.ts'
import { startForge } from '../../../forge.ts'
import { currentSettings, forgetSettings } from '../../instance/settings/queries.ts'

const PASSWORD = 'correct horse'

// oxlint-disable-next-line no-explicit-any -- a test reads the answer's body as it expects it
const read = async (address: string, init?: RequestInit): Promise<{ status: number; body: any }> => {
  const answer = await fetch(address, init)
  return { status: answer.status, body: await answer.json() }
}

test('the discovery document leads to every endpoint', async () => {
  await using forge = await startForge()
  const { status, body } = await read(`${forge.url}/.well-known/openid-configuration`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    issuer: forge.url,
    authorization_endpoint: `${forge.url}/oauth/authorize`,
    token_endpoint: `${forge.url}/oauth/token`,
    jwks_uri: `${forge.url}/oauth/discovery/keys`,
    grant_types_supported: ['authorization_code', 'refresh_token', 'password', 'client_credentials'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
  const endpoints = Object.entries(body as Record<string, string>).filter(([name]) => /_endpoint$|_uri$/.test(name))
  expect(endpoints).toHaveLength(6)
  for (const [, address] of endpoints) {
    const [get, post] = [await fetch(address, { redirect: 'manual' }), await fetch(address, { method: 'POST' })]
    expect([address, get.status === 404 && post.status === 404]).toEqual([address, false])
  }
})

test('a sign-in is proven by a signed token that names the client and its nonce', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD, website_url: 'https://jane.example' })
  const app = await registerApplication(forge, { scopes: 'openid email read_user' })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  const code = await codeFor(browser, app, { scope: 'openid email', nonce: 'n-1' })

  const { body } = await exchangeCode(forge, app, code)

  const [head, claims, signature] = (body.id_token as string).split('.') as [string, string, string]
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as object
  const { keys } = (await read(`${forge.url}/oauth/discovery/keys`)).body
  expect(keys).toEqual([
    { kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String), n: expect.any(String), e: 'AQAB' },
  ])
  expect(decode(head)).toEqual({ typ: 'JWT', alg: 'RS256', kid: keys[0].kid })
  const key = createPublicKey({ key: keys[0], format: 'jwk' })
  const data = Buffer.from(`${head}.${claims}`)
  expect(verify('RSA-SHA256', data, key, Buffer.from(signature, 'base64url'))).toBe(true)
  const { iat, exp, auth_time, ...rest } = decode(claims) as { iat: number; exp: number; auth_time: number }
  expect(rest).toEqual({ iss: forge.url, sub: String(jane.id), aud: app.client_id, nonce: 'n-1' })
  expect(exp - iat).toBe(120)
  expect(iat - auth_time).toBeLessThan(60)

  const userinfo = (token: string, method = 'GET') =>
    read(`${forge.url}/oauth/userinfo`, { method, headers: { Authorization: `Bearer ${token}` } })
  const info = {
    sub: String(jane.id),
    name: 'User 1',
    nickname: 'jane',
    preferred_username: 'jane',
    email: 'jane@example.com',
    email_verified: true,
    website: 'https://jane.example',
    profile: `${forge.url}/jane`,
  }
  for (const method of ['GET', 'POST']) {
    const answer = await userinfo(body.access_token, method)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject(info)
  }
  const without = await exchangeCode(forge, app, await codeFor(browser, app, { scope: 'read_user' }))
  expect(without.body).not.toHaveProperty('id_token')
  const refused = await userinfo(without.body.access_token)
  expect(refused).toMatchObject({ status: 403, body: { error: 'insufficient_scope', scope: 'openid' } })
  expect(await userinfo('f'.repeat(64))).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  expect(await userinfo(jane.token)).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  const onlyOpenid = await exchangeCode(forge, app, await codeFor(browser, app, { scope: 'openid' }))
  expect((await userinfo(onlyOpenid.body.access_token)).body).not.toHaveProperty('email')
  // The token allows signing in and nothing else.
  expect((await forge.as({ Authorization: `Bearer ${onlyOpenid.body.access_token}` }).get('/user')).status).toBe(403)
  await forge.administrator.post(`/users/${jane.id}/block`)
  expect(await userinfo(body.access_token)).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
})

test('the key is kept sealed, stays the same and is no setting', async () => {
  await using forge = await startForge()
  const keys = () => read(`${forge.url}/oauth/discovery/keys`)
  const answers = await Promise.all([keys(), keys(), keys()])
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body)
  const rows = await forge.app.db.selectFrom('settings').selectAll().where('name', 'like', 'secret:%').execute()
  expect(rows).toHaveLength(1)
  expect(rows[0]!.value).not.toContain('PRIVATE KEY')
  expect(forge.app.vault.open(JSON.parse(rows[0]!.value) as string)).toContain('BEGIN PRIVATE KEY')
  forgetSettings(forge.app)
  expect(JSON.stringify(await currentSettings(forge.app))).not.toContain('oidc')
  expect(JSON.stringify((await forge.administrator.get('/application/settings')).body)).not.toContain('oidc')
})

test('a password grant names no client to prove a sign-in to', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const fields = { grant_type: 'password', username: 'jane', password: PASSWORD, scope: 'openid' }
  const { body } = await oauthPost(forge, 'token', fields)
  expect(body.scope).toBe('openid')
  expect(body).not.toHaveProperty('id_token')
})
