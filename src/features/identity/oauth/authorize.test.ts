import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import {
  CALLBACK,
  authorizePath,
  codeFor,
  exchangeCode,
  oauthPost,
  pkcePair,
  registerApplication,
} from '../../../../test/oauth.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'

async function signedIn(forge: TestForge, username = 'jane') {
  await forge.user({ username, password: PASSWORD })
  const browser = new Browser(forge.url)
  await browser.signIn(username, PASSWORD)
  return browser
}

const grants = (forge: TestForge) => forge.app.db.selectFrom('oauth_grants').selectAll().execute()
const tokens = (forge: TestForge) => forge.app.db.selectFrom('oauth_tokens').selectAll().execute()

test('the whole way of a public client: sign-in, consent, code with its verifier, API', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const app = await registerApplication(forge, { name: 'Tool <1>', confidential: false })
  const { verifier, challenge } = pkcePair()
  const state = 'a b&c=d#"\'<'
  const browser = new Browser(forge.url)

  const first = await browser.get(authorizePath(app, { ...challenge, state, scope: 'read_user' }))
  expect(first.status).toBe(303)
  const signIn = await browser.get(first.location!)
  // Browsers apply `form-action` to redirects too, and this form ends at the client's address.
  expect(signIn.headers.get('content-security-policy')).not.toContain('form-action')
  const back = await browser.submit(signIn, { 'user[login]': 'jane', 'user[password]': PASSWORD })
  expect(back.status).toBe(303)
  const consent = await browser.get(back.location!)
  expect(consent.status).toBe(200)
  expect(consent.body).toContain('Authorize Tool &lt;1&gt;?')
  expect(consent.body).toContain('read your profile')
  expect(consent.body).not.toContain('use the whole API')
  expect(await grants(forge)).toEqual([])
  const granted = await browser.submit(consent)
  expect(granted.status).toBe(303)
  const callback = new URL(granted.location!)
  expect(callback.origin + callback.pathname).toBe(CALLBACK)
  expect([...callback.searchParams.keys()]).toEqual(['code', 'state'])
  expect(callback.searchParams.get('state')).toBe(state)

  const code = callback.searchParams.get('code')!
  expect(code).toMatch(/^[0-9a-f]{64}$/)
  const { client_id } = app
  const answer = await oauthPost(forge, 'token', {
    grant_type: 'authorization_code',
    client_id,
    code,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  })
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'bearer',
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      scope: 'read_user',
      created_at: expect.any(Number),
    },
  ])
  expect(Math.abs(answer.body.created_at - Date.now() / 1000)).toBeLessThan(60)
  expect(answer.headers.get('cache-control')).toBe('no-store')

  const caller = forge.as({ Authorization: `Bearer ${answer.body.access_token}` })
  expect(await caller.get('/user')).toMatchObject({ status: 200, body: { username: 'jane' } })
  expect(await caller.get('/applications')).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
  const byParameter = await forge.visitor.get('/user', { access_token: answer.body.access_token })
  expect(byParameter.body.username).toBe('jane')
  const kept = JSON.stringify([await grants(forge), await tokens(forge)])
  for (const secret of [code, answer.body.access_token, answer.body.refresh_token]) expect(kept).not.toContain(secret)
})

test('an unknown client or address is told to the user, and nothing is sent to the address', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge, { redirect_uri: `${CALLBACK}\nhttps://app.example/other` })
  const browser = await signedIn(forge)
  const table: Record<string, string>[] = [
    { client_id: 'x'.repeat(64) },
    { client_id: '' },
    { redirect_uri: '' },
    { redirect_uri: 'https://evil.example/callback' },
    { redirect_uri: `${CALLBACK}/more` },
    { redirect_uri: `${CALLBACK}?more=1` },
    { redirect_uri: `${CALLBACK}\nhttps://app.example/other` },
    { redirect_uri: CALLBACK.toUpperCase() },
    { redirect_uri: 'https://app.example' },
  ]
  for (const input of table) {
    const page = await browser.get(authorizePath(app, input))
    expect([input, page.status, page.location]).toEqual([input, 400, null])
    expect(page.body).not.toContain('<form')
  }
  const other = await browser.get(authorizePath(app, { redirect_uri: 'https://app.example/other' }))
  expect(other.status).toBe(200)
})

test('what else is wrong goes back to the client with its state', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const open = await registerApplication(forge, { confidential: false })
  const browser = await signedIn(forge)
  const short = { code_challenge: 'abc' }
  const table = [
    [app, { response_type: '' }, 'invalid_request'],
    [app, { response_type: 'id_token' }, 'unsupported_response_type'],
    [app, { scope: 'everything' }, 'invalid_scope'],
    [app, { scope: 'api sudo' }, 'invalid_scope'],
    [app, short, 'invalid_request'],
    [app, { ...pkcePair().challenge, code_challenge_method: 'S512' }, 'invalid_request'],
    [open, {}, 'invalid_request'],
  ] as const
  for (const [client, input, error] of table) {
    const answer = await browser.get(authorizePath(client, { state: 'kept', ...input }))
    expect([input, answer.status]).toEqual([input, 303])
    const address = new URL(answer.location!)
    expect(address.origin + address.pathname).toBe(CALLBACK)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      error,
      error_description: expect.any(String),
      state: 'kept',
    })
  }
  const implicit = await browser.get(authorizePath(app, { response_type: 'token', scope: 'sudo', state: 's' }))
  expect(implicit.location).toMatch(/^https:\/\/app\.example\/callback#error=invalid_scope&.*&state=s$/)
  expect(await grants(forge)).toEqual([])
})

test('a denial goes back as access_denied, by the button and by DELETE', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const browser = await signedIn(forge)
  const path = authorizePath(app, { state: 's' })
  const page = await browser.get(path)
  const byButton = await browser.submit(page, { _method: 'delete' })
  const token = /name="authenticity_token" value="([^"]*)"/.exec(page.body)![1]!
  const byMethod = await browser.request(path, { method: 'DELETE', headers: { 'X-CSRF-Token': token } })
  for (const { status, location } of [byButton, byMethod]) {
    const { searchParams } = new URL(location!)
    expect(status).toBe(303)
    expect([...searchParams.keys()]).toEqual(['error', 'error_description', 'state'])
    expect(searchParams.get('error')).toBe('access_denied')
  }
  expect((await browser.request(path, { method: 'DELETE' })).status).toBe(403)
  expect(await grants(forge)).toEqual([])
})

test('consent is proven to come from our page and from the person signed in', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const jane = await signedIn(forge, 'jane')
  const joe = await signedIn(forge, 'joe')
  const page = await jane.get(authorizePath(app))
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect((await jane.submit(page, { authenticity_token: '' })).status).toBe(403)
  expect((await joe.submit(page)).status).toBe(403)
  expect((await new Browser(forge.url).submit(page)).status).toBe(403)
  expect(await grants(forge)).toEqual([])

  // Signed out in the meantime: the same question again after signing in.
  await forge.app.db.deleteFrom('sessions').execute()
  const late = await jane.submit(page)
  expect(late.status).toBe(303)
  expect(late.location).toMatch(/^\/users\/sign_in\?return_to=%2Foauth%2Fauthorize%3F/)
  expect(late.location).not.toContain('authenticity_token')
  expect(await grants(forge)).toEqual([])
})

test('who consented once is not asked again for the same, unless the client is public', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const open = await registerApplication(forge, { confidential: false })
  const browser = await signedIn(forge)
  const { body } = await exchangeCode(forge, app, await codeFor(browser, app, { scope: 'api read_user' }))
  const asked = async (input: Record<string, string>) => (await browser.get(authorizePath(app, input))).status === 200
  expect(await asked({ scope: 'api' })).toBe(false)
  expect(await asked({ scope: 'read_user api' })).toBe(false)
  expect(await asked({ scope: 'api openid' })).toBe(true)
  const joe = await signedIn(forge, 'joe')
  expect((await joe.get(authorizePath(app, { scope: 'api' }))).status).toBe(200)
  await oauthPost(forge, 'revoke', { ...app, token: body.access_token } as never)
  expect(await asked({ scope: 'api' })).toBe(true)

  const { verifier, challenge } = pkcePair()
  const code = await codeFor(browser, open, challenge)
  const opened = await exchangeCode(forge, open, code, { client_secret: '', code_verifier: verifier })
  expect(opened.status).toBe(200)
  expect((await browser.get(authorizePath(open, challenge))).status).toBe(200)
})

test('a trusted application needs no consent', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const browser = await signedIn(forge)
  await forge.app.db.updateTable('oauth_applications').set({ trusted: true }).execute()
  const answer = await browser.get(authorizePath(app))
  expect(answer).toMatchObject({ status: 303, location: expect.stringContaining(`${CALLBACK}?code=`) })
})

test('the token type answers in the fragment, without a refresh token', async () => {
  await using forge = await startForge()
  const app = await registerApplication(forge)
  const browser = await signedIn(forge)
  const page = await browser.get(authorizePath(app, { response_type: 'token', state: 's', scope: 'read_user' }))
  const { location } = await browser.submit(page)
  const address = new URL(location!)
  const given = Object.fromEntries(new URLSearchParams(address.hash.slice(1)))
  expect(address.search).toBe('')
  expect(given).toEqual({ access_token: expect.stringMatching(/^[0-9a-f]{64}$/), token_type: 'bearer', state: 's' })
  const caller = forge.as({ Authorization: `Bearer ${given.access_token}` })
  expect((await caller.get('/user')).body.username).toBe('jane')
})

test('an address of its own scheme and one with a query are answered as they are', async () => {
  await using forge = await startForge()
  const uris = ['com.example.tool:/back', 'https://app.example/cb?keep=1']
  const app = await registerApplication(forge, { redirect_uri: uris.join('\n') })
  const browser = await signedIn(forge)
  for (const [redirect_uri, start] of [
    [uris[0]!, 'com.example.tool:/back?code='],
    [uris[1]!, 'https://app.example/cb?keep=1&code='],
  ] as const) {
    const { location } = await browser.submit(await browser.get(authorizePath(app, { redirect_uri })))
    expect(location?.startsWith(start)).toBe(true)
  }
})
