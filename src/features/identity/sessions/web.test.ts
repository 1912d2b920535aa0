import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { Browser, hiddenFields } from '../../../../test/browser.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const JSON_TYPE = { 'Content-Type': 'application/json' }

const sessionOf = (browser: Browser) => browser.cookies.get('_service_session')

const sessions = (forge: TestForge) => forge.app.db.selectFrom('sessions').selectAll().execute()

const whoAmI = async (browser: Browser) => {
  const { status, body } = await browser.get('/api/v4/user')
  return status === 200 ? (JSON.parse(body) as { username: string }).username : status
}

test('the sign-in page asks nobody else, runs nothing but our script and cannot be framed', async () => {
  await using forge = await startForge()
  const { status, headers, body } = await new Browser(forge.url).get('/users/sign_in')
  const style = /<style>([^]*)<\/style>/.exec(body)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  expect(status).toBe(200)
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'; connect-src 'self'; form-action 'self'`,
  )
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(body).not.toMatch(/<script>|https?:\/\/|style="/)
})

test('signing in gives a session, which reads at once and writes with its code, until signing out', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD, admin: true })
  const browser = new Browser(forge.url)

  const page = await browser.signIn('Jane@example.com', PASSWORD, '/jane?tab=a')

  expect(page).toMatchObject({ status: 303, location: '/jane?tab=a' })
  expect(page.headers.getSetCookie()).toEqual([
    `_service_session=${sessionOf(browser)}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800`,
  ])
  expect(await whoAmI(browser)).toBe('jane')
  const kept = await sessions(forge)
  expect(kept).toHaveLength(1)
  expect(JSON.stringify(kept)).not.toContain(sessionOf(browser))

  const { csrf_token } = JSON.parse((await browser.get('/-/csrf')).body) as { csrf_token: string }
  const write = (token: string | null) =>
    browser.request('/api/v4/applications', {
      method: 'POST',
      headers: { ...JSON_TYPE, ...(token && { 'X-CSRF-Token': token }) },
      body: JSON.stringify({ name: 'a', redirect_uri: 'https://app.example', scopes: 'api' }),
    })
  expect((await write(null)).status).toBe(401)
  expect((await write('x'.repeat(43))).status).toBe(401)
  expect((await write(csrf_token)).status).toBe(201)

  expect((await browser.post('/users/sign_out', {})).status).toBe(403)
  expect(await whoAmI(browser)).toBe('jane')
  const copy = sessionOf(browser)!
  const out = await browser.post('/users/sign_out', { authenticity_token: csrf_token })
  expect(out).toMatchObject({ status: 303, location: '/users/sign_in' })
  expect(sessionOf(browser)).toBeUndefined()
  browser.cookies.set('_service_session', copy)
  expect(await whoAmI(browser)).toBe(401)
  expect((await browser.get('/-/csrf')).status).toBe(401)
})

test('a sign-in is remembered on the account, and each has a session of its own', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  const start = forge.clock.now().toISOString()
  await browser.signIn('jane', PASSWORD)
  const [first, second] = [sessionOf(browser), await jane.get('/user')]
  expect(second.body).toMatchObject({ last_activity_on: start.slice(0, 10) })
  expect(second.body.current_sign_in_at >= start).toBe(true)
  expect(second.body.last_sign_in_at).toBe(second.body.current_sign_in_at)

  forge.clock.advance(60_000)
  // The form is shown only to signed-out users, but a second tab may still show one.
  const { csrf_token } = JSON.parse((await browser.get('/-/csrf')).body) as { csrf_token: string }
  const again = { authenticity_token: csrf_token, login: 'jane', password: PASSWORD }
  expect((await browser.post('/users/sign_in', again)).status).toBe(303)
  const third = (await jane.get('/user')).body
  expect(third.last_sign_in_at).toBe(second.body.current_sign_in_at)
  expect(third.current_sign_in_at > third.last_sign_in_at).toBe(true)
  expect(sessionOf(browser)).not.toBe(first)
  expect(await sessions(forge)).toHaveLength(1)
  expect(await browser.get('/users/sign_in?return_to=/there')).toMatchObject({ status: 303, location: '/there' })
})

test('scripts sign in with JSON', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_in', { Accept: 'application/json' })
  const { csrf_token } = JSON.parse(page.body) as { csrf_token: string }
  const send = (input: object, headers: Record<string, string>) =>
    browser.request('/users/sign_in', {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify(input),
    })

  const wrong = await send({ login: 'jane', password: 'wrong horse' }, { 'X-CSRF-Token': csrf_token })
  expect([wrong.status, wrong.body]).toEqual([401, '{"message":"401 Unauthorized"}'])
  const unproven = await send({ login: 'jane', password: PASSWORD }, {})
  expect([unproven.status, unproven.body]).toEqual([
    403,
    '{"message":"This form has expired. Go back, reload the page and try again."}',
  ])
  const right = await send({ user: { login: 'jane', password: PASSWORD } }, { 'X-CSRF-Token': csrf_token })
  const proof = (JSON.parse((await browser.get('/-/csrf')).body) as { csrf_token: string }).csrf_token
  expect([right.status, JSON.parse(right.body)]).toEqual([201, { username: 'jane', csrf_token: proof }])
})

test('a form counts only with the code of the browser it was sent to', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const [browser, other] = [new Browser(forge.url), new Browser(forge.url)]
  const own = hiddenFields(await browser.get('/users/sign_in')).authenticity_token!
  const foreign = hiddenFields(await other.get('/users/sign_in')).authenticity_token!
  const fields = { 'user[login]': 'jane', 'user[password]': PASSWORD }
  const table: [Record<string, string>, Record<string, string>][] = [
    [{}, {}],
    [{ authenticity_token: '' }, {}],
    [{ authenticity_token: foreign }, {}],
    [{ 'authenticity_token[]': own }, {}],
    [{ authenticity_token: own }, { 'Sec-Fetch-Site': 'cross-site' }],
    [{ authenticity_token: own }, { 'Sec-Fetch-Site': 'same-site' }],
  ]
  for (const [proof, headers] of table) {
    const answer = await browser.post('/users/sign_in', { ...fields, ...proof }, headers)
    expect(answer.status, JSON.stringify([proof, headers])).toBe(403)
  }
  const withoutCookie = await new Browser(forge.url).post('/users/sign_in', { ...fields, authenticity_token: own })
  expect(withoutCookie.status).toBe(403)
  expect(await sessions(forge)).toEqual([])
  const fetched = { 'Sec-Fetch-Site': 'same-origin' }
  expect((await browser.post('/users/sign_in', { ...fields, authenticity_token: own }, fetched)).status).toBe(303)
})

test.each(['https://evil.example', '//evil.example', '/\\evil.example', '/.//evil.example'])(
  'signing in does not lead to %s',
  async (address) => {
    await using forge = await startForge()
    await forge.user({ username: 'jane', password: PASSWORD })
    const browser = new Browser(forge.url)
    const page = await browser.get(`/users/sign_in?return_to=${encodeURIComponent(address)}`)
    const signedIn = await browser.submit(page, {
      'user[login]': 'jane',
      'user[password]': PASSWORD,
      return_to: address,
    })
    expect(signedIn).toMatchObject({ status: 303, location: '/' })
    const again = await browser.get(`/users/sign_in?return_to=${encodeURIComponent(address)}`)
    expect(again).toMatchObject({ status: 303, location: '/' })
  },
)

test('refusals of the sign-in page', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  await forge.user({ username: 'blocked', password: PASSWORD, blocked: true })
  await forge.user({ username: 'new', password: PASSWORD, skip_confirmation: false })
  const browser = new Browser(forge.url)
  const table: [string, string, number, RegExp][] = [
    ['jane', 'wrong horse', 401, /Invalid login or password\./],
    ['nobody<i>', PASSWORD, 401, /value="nobody&lt;i&gt;"/],
    ['blocked', 'wrong horse', 401, /Invalid login or password\./],
    ['blocked', PASSWORD, 403, /Your account has been blocked\./],
    ['new', 'wrong horse', 401, /Invalid login or password\./],
    ['new', PASSWORD, 403, /Follow the link in the confirmation email/],
  ]
  for (const [login, password, status, text] of table) {
    const page = await browser.signIn(login, password)
    expect([login, page.status]).toEqual([login, status])
    expect(page.body).toMatch(text)
    expect(page.body).not.toContain(password)
  }
  expect(sessionOf(browser)).toBeUndefined()
  expect(await sessions(forge)).toEqual([])
})

test('an address that failed ten times waits a minute', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  for (let n = 0; n < 10; n++) expect((await browser.signIn(`nobody${n}`, PASSWORD)).status).toBe(401)
  const stopped = await browser.signIn('jane', PASSWORD)
  expect(stopped.status).toBe(429)
  expect(stopped.headers.get('retry-after')).toBe('60')
  expect(stopped.body).toContain('Too many failed attempts.')
  forge.clock.advance(61_000)
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
})

test('a password that someone else set is replaced before a session begins, and ends the sessions before it', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  await forge.administrator.put(`/users/${jane.id}`, { password: 'handed over' })
  expect(await whoAmI(browser)).toBe(401)
  expect((await jane.get('/user')).status).toBe(200)

  const page = await browser.signIn('jane', 'handed over')
  expect(page.status).toBe(403)
  expect(page.body).toContain('Your password has expired.')
  expect(await whoAmI(browser)).toBe(401)
  const choose = (password: string, again = password) =>
    browser.submit(page, { 'user[password]': password, 'user[password_confirmation]': again })
  expect((await choose('handed over')).body).toContain('The new password must be different.')
  expect((await choose('short')).body).toContain('The password is too short (minimum is 8 characters).')
  expect((await choose('my own words', 'my own worts')).body).toContain('Passwords do not match.')
  expect((await choose('my own words')).status).toBe(200)
  expect((await choose('my own words 2')).status).toBe(404)
  expect((await browser.signIn('jane', 'handed over')).status).toBe(401)
  expect((await browser.signIn('jane', 'my own words')).status).toBe(303)
  expect(await whoAmI(browser)).toBe('jane')
})

test('a session ends with its time, with a block and with the account', async () => {
  await using forge = await startForge()
  const people = await Promise.all(
    ['one', 'two', 'three'].map((username) => forge.user({ username, password: PASSWORD })),
  )
  const browsers = people.map(() => new Browser(forge.url))
  for (const [n, browser] of browsers.entries()) {
    await browser.signIn(people[n]!.username, PASSWORD)
    expect(await whoAmI(browser)).toBe(people[n]!.username)
  }
  await forge.administrator.post(`/users/${people[0]!.id}/block`)
  expect(await whoAmI(browsers[0]!)).toBe(401)
  await forge.administrator.post(`/users/${people[0]!.id}/unblock`)
  expect(await whoAmI(browsers[0]!)).toBe(401)
  await forge.administrator.delete(`/users/${people[1]!.id}`)
  expect(await whoAmI(browsers[1]!)).toBe(401)
  forge.clock.advance(10_080 * 60_000 - 60_000)
  expect(await whoAmI(browsers[2]!)).toBe('three')
  forge.clock.advance(61_000)
  expect(await whoAmI(browsers[2]!)).toBe(401)
})

test('the length of a session and the switch for passwords are settings', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const set = (input: Record<string, unknown>) => forge.administrator.put('/application/settings', input)

  await set({ session_expire_delay: 5 })
  const [cookie] = (await new Browser(forge.url).signIn('jane', PASSWORD)).headers.getSetCookie()
  expect(cookie).toContain('; Max-Age=300')
  await set({ session_expire_delay: 0 })
  const brief = await new Browser(forge.url).signIn('jane', PASSWORD)
  expect(brief.headers.getSetCookie()[0]).not.toContain('Max-Age')

  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_in')
  await set({ password_authentication_enabled: false })
  expect((await browser.submit(page, { login: 'jane', password: PASSWORD })).status).toBe(403)
  expect(await browser.get('/users/sign_in')).toMatchObject({
    status: 403,
    body: expect.not.stringContaining('name="user[password]"'),
  })
  expect(sessionOf(browser)).toBeUndefined()
  expect((await forge.visitor.post('/session', { login: 'jane', password: PASSWORD })).status).toBe(201)
})

test('behind https the cookies are sent over https only', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  Object.assign(forge.app, { url: 'https://forge.example.com' })
  const browser = new Browser(forge.url)
  const request = await browser.get('/users/sign_in')
  const signedIn = await browser.submit(request, { login: 'jane', password: PASSWORD })
  for (const { headers } of [request, signedIn]) {
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; HttpOnly; SameSite=Lax.*; Secure$/)])
  }
})

test('the front page shows visitors the way in and lets the signed-in sign out', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  const front = await browser.get('/')
  expect([front.status, front.body.includes('href="/users/sign_in?')]).toEqual([200, true])
  expect(await browser.signIn('jane', PASSWORD)).toMatchObject({ status: 303, location: '/' })
  const page = await browser.get('/')
  expect([page.status, page.body.includes('@jane')]).toEqual([200, true])
  expect(await browser.post('/users/sign_out', hiddenFields(page))).toMatchObject({ status: 303 })
  expect((await browser.get('/')).body).not.toContain('@jane')
})

test('a new password or address ends the sessions and links of the old one', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  for (const change of [{ password: 'another horse' }, { email: 'new@example.com' }]) {
    await forge.app.db.updateTable('users').set({ password_expires_at: null }).where('id', '=', jane.id).execute()
    const browser = new Browser(forge.url)
    await browser.signIn('jane', 'password' in change ? PASSWORD : 'another horse')
    expect(await whoAmI(browser)).toBe('jane')
    await forge.administrator.put(`/users/${jane.id}`, change)
    expect(await whoAmI(browser)).toBe(401)
  }
})

test('a sign-in beside a new password by an administrator opens nothing', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  const answers = await atOnce(
    forge,
    () => forge.administrator.put(`/users/${jane.id}`, { password: 'another horse' }),
    () => browser.signIn('jane', PASSWORD),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 303])
  expect(await whoAmI(browser)).toBe(401)
})
