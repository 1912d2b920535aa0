import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { call } from '../../../../test/cases.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct-horse-battery'
const HALF_MINUTE = 30_000
const HTML = { Accept: 'text/html' }

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge[Symbol.asyncDispose]())

/** The code that the device would show; a new one each time, because no code is accepted twice. */
function codeOf(secret: string): string {
  forge.clock.advance(HALF_MINUTE)
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: forge.clock.now().getTime() })
}

async function withSecondFactor(): Promise<{ jane: Person; secret: string; codes: string[] }> {
  const jane = await forge.user({ password: PASSWORD })
  const { body } = await jane.post('/user/second_factor', { password: PASSWORD })
  const confirmed = await jane.post('/user/second_factor/confirm', { code: codeOf(body.secret) })
  expect(confirmed.status).toBe(201)
  return { jane, secret: body.secret, codes: confirmed.body.recovery_codes }
}

const isSignedIn = async (browser: Browser) =>
  (await browser.get('/-/csrf', { Accept: 'application/json' })).status === 200

test('it is on once a first code was shown, and begins with the password', async () => {
  const jane = await forge.user({ password: PASSWORD })
  expect(await jane.post('/user/second_factor', { password: 'wrong' })).toMatchObject({
    status: 400,
    body: { message: 'Invalid password' },
  })
  const begun = await jane.post('/user/second_factor', { password: PASSWORD })
  expect(begun).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^[A-Z2-7]{32}$/) } })
  expect(begun.body.otpauth_url).toContain(`secret=${begun.body.secret}`)
  const wrong = await jane.post('/user/second_factor/confirm', { code: '000000' })
  expect(wrong).toMatchObject({ status: 400, body: { message: 'Invalid code, or the code was already used' } })
  expect((await jane.get('/user/second_factor')).body).toMatchObject({
    enabled: false,
    totp_enabled: false,
    recovery_codes_left: 0,
  })
  expect(await new Browser(forge.url).signIn(jane.username, PASSWORD)).toMatchObject({ status: 303 })

  const { body } = await jane.post('/user/second_factor/confirm', { code: codeOf(begun.body.secret) })
  expect(new Set(body.recovery_codes).size).toBe(10)
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(true)
  expect((await jane.get('/user/second_factor')).body).toMatchObject({
    enabled: true,
    totp_enabled: true,
    recovery_codes_left: 10,
  })
  expect((await jane.post('/user/second_factor', { password: PASSWORD })).status).toBe(409)
  const rows = await forge.app.db.selectFrom('second_factors').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(begun.body.secret)
})

test('a password alone opens neither the web nor the API', async () => {
  const { jane, secret } = await withSecondFactor()
  const session = await forge.visitor.post('/session', { login: jane.username, password: PASSWORD })
  expect(session.status).toBe(401)
  const browser = new Browser(forge.url)
  const page = await browser.signIn(jane.username, PASSWORD)
  expect([page.status, page.body.includes('Two-factor authentication')]).toEqual([200, true])
  expect(await isSignedIn(browser)).toBe(false)

  const wrong = await browser.submit(page, { code: '000000' })
  expect([wrong.status, wrong.body.includes('Invalid code')]).toEqual([401, true])
  expect(await isSignedIn(browser)).toBe(false)
  const code = codeOf(secret)
  expect(await browser.submit(wrong, { code: `${code.slice(0, 3)} ${code.slice(3)}` })).toMatchObject({ status: 303 })
  expect(await isSignedIn(browser)).toBe(true)

  const other = new Browser(forge.url)
  const again = await other.submit(await other.signIn(jane.username, PASSWORD), { code })
  expect(again.status).toBe(401)
  expect(await isSignedIn(other)).toBe(false)
})

test('a recovery code opens once, and the ticket of a first step not for long', async () => {
  const { jane, secret, codes } = await withSecondFactor()
  const enter = async (code: string, wait = 0) => {
    const browser = new Browser(forge.url)
    const page = await browser.signIn(jane.username, PASSWORD)
    forge.clock.advance(wait)
    await browser.submit(page, { code })
    return isSignedIn(browser)
  }
  expect(await enter(codes[0]!.toUpperCase())).toBe(true)
  expect(await enter(codes[0]!)).toBe(false)
  expect((await jane.get('/user/second_factor')).body.recovery_codes_left).toBe(9)
  expect(await enter(codes[1]!, 6 * MINUTE)).toBe(false)
  const { body } = await jane.post('/user/second_factor/recovery_codes', { code: codeOf(secret) })
  expect(await enter(codes[1]!)).toBe(false)
  expect(await enter(body.recovery_codes[0])).toBe(true)
})

test('tickets are nobody else’s to make, and end with the password', async () => {
  const { jane, secret } = await withSecondFactor()
  const browser = new Browser(forge.url)
  const page = await browser.signIn(jane.username, PASSWORD)
  for (const ticket of ['', 'x', '{"user":1}', forge.app.vault.seal('{}'), forge.app.vault.seal('no ticket')]) {
    await browser.submit(page, { ticket, code: codeOf(secret) })
    expect(await isSignedIn(browser)).toBe(false)
  }
  await forge.administrator.put(`/users/${jane.id}`, { password: 'another-horse-battery' })
  await browser.submit(page, { code: codeOf(secret) })
  expect(await isSignedIn(browser)).toBe(false)
})

test('guessing is slow', async () => {
  const { jane, secret } = await withSecondFactor()
  forge.clock.advance(2 * MINUTE)
  const browser = new Browser(forge.url)
  const form = await browser.signIn(jane.username, PASSWORD)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push((await browser.submit(form, { code: `00000${n % 10}` })).status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  expect(statuses.slice(-2)).toEqual([429, 429])
  expect((await browser.submit(form, { code: codeOf(secret) })).status).toBe(429)

  // The wait is longer than a minute and grows; by then the first step must be repeated.
  const again = async (minutes: number) => {
    forge.clock.advance(minutes * MINUTE)
    const page = await browser.signIn(jane.username, PASSWORD)
    return [page, (await browser.submit(page, { code: '000000' })).status] as const
  }
  expect((await again(8))[1]).toBe(429)
  const [page, status] = await again(3)
  expect(status).toBe(401)
  for (let n = 0; n < 9; n++) expect((await browser.submit(page, { code: '000000' })).status).toBe(401)
  const stopped = await browser.submit(page, { code: '000000' })
  expect([stopped.status, stopped.headers.get('retry-after')]).toEqual([429, '1200'])
})

test('many networks together do not guess codes, and a recovery code still opens', async () => {
  await using forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })
  const jane = await forge.user({ password: PASSWORD })
  const { body } = await jane.post('/user/second_factor', { password: PASSWORD })
  const shown = (at = forge.clock.now().getTime()) =>
    new TOTP({ secret: Secret.fromBase32(body.secret) }).generate({ timestamp: at })
  const { body: on } = await jane.post('/user/second_factor/confirm', { code: shown() })
  const enter = async (address: string, code: string) => {
    const from = { 'X-Forwarded-For': address }
    const json = { Accept: 'application/json', ...from }
    const page = await fetch(`${forge.url}/users/sign_in`, { headers: json })
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const { csrf_token } = (await page.json()) as { csrf_token: string }
    const post = (path: string, fields: object) =>
      fetch(forge.url + path, {
        method: 'POST',
        headers: { ...json, 'Content-Type': 'application/json', Cookie: cookie, 'X-CSRF-Token': csrf_token },
        body: JSON.stringify(fields),
      })
    const first = await post('/users/sign_in', { login: jane.username, password: PASSWORD })
    const { ticket } = (await first.json()) as { ticket: string }
    return (await post('/users/sign_in/second_factor', { ticket, code })).status
  }
  expect(await enter('192.0.2.1', '000000')).toBe(401)
  const inAll = forge.app.db.updateTable('throttles').where('key', 'like', `code ${jane.id} ________________`)
  await inAll.set({ count: 29 }).execute()
  expect(await enter('192.0.2.2', '000000')).toBe(401)
  forge.clock.advance(HALF_MINUTE)
  expect(await enter('203.0.113.1', shown())).toBe(429)
  expect(await enter('203.0.113.1', on.recovery_codes[0])).toBe(201)
})

test('it goes by a code of its holder, or by an administrator', async () => {
  const { jane, secret } = await withSecondFactor()
  expect((await jane.delete('/user/second_factor', { code: '000000' })).status).toBe(400)
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(true)
  expect((await jane.delete('/user/second_factor', { code: codeOf(secret) })).status).toBe(204)
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(false)
  expect(await new Browser(forge.url).signIn(jane.username, PASSWORD)).toMatchObject({ status: 303 })

  const { jane: joe } = await withSecondFactor()
  const sudo = await forge.administrator.get('/user/second_factor', { sudo: joe.username })
  expect(sudo.body).toMatchObject({ enabled: true, totp_enabled: true, recovery_codes_left: 10 })
  expect((await forge.administrator.delete('/user/second_factor', { sudo: joe.username, code: '1' })).status).toBe(403)
  expect((await call(forge.administrator, 'PATCH', `/users/${joe.id}/disable_two_factor`)).status).toBe(204)
  expect((await joe.get('/user/second_factor')).body.enabled).toBe(false)
})

test('who must have one sets it up in time, or sees nothing else', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password: PASSWORD })
  const open = new Browser(forge.url)
  await open.signIn(jane.username, PASSWORD)
  const asks = { require_two_factor_authentication: true, two_factor_grace_period: 2 }
  expect((await forge.administrator.put('/application/settings', asks)).status).toBe(200)
  forge.clock.advance(MINUTE)

  const browser = new Browser(forge.url)
  const place = '/-/profile/two_factor_auth'
  expect(await browser.signIn(jane.username, PASSWORD, '/explore')).toMatchObject({ status: 303, location: place })
  const page = await browser.get(place, HTML)
  expect(page.body).toContain('This instance requires two-factor authentication.')
  const deadline = Date.parse((await jane.get('/user/second_factor')).body.required_until)
  expect(Math.abs(deadline - forge.clock.now().getTime() - 120 * MINUTE)).toBeLessThan(2 * MINUTE)
  expect((await browser.get('/explore', HTML)).status).toBe(200)

  forge.clock.advance(121 * MINUTE)
  for (const path of ['/explore', '/', '/no/such/place', '/-/profile'])
    expect([path, (await browser.get(path, HTML)).location]).toEqual([path, place])
  expect((await open.get('/explore', HTML)).location).toBe(place)
  expect((await browser.get(place, HTML)).status).toBe(200)
  expect((await browser.get('/api/v4/projects')).status).toBe(403)
  expect(JSON.parse((await browser.get('/api/v4/user')).body)).toMatchObject({ username: jane.username })
  expect((await jane.get('/projects')).status).toBe(200)

  const { body } = await jane.post('/user/second_factor', { password: PASSWORD })
  const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate({ timestamp: forge.clock.now().getTime() })
  expect((await jane.post('/user/second_factor/confirm', { code })).status).toBe(201)
  expect((await browser.get('/explore', HTML)).status).toBe(200)
  expect((await jane.get('/user/second_factor')).body.required_until).toBeNull()
})

test('a group asks its members, and those of groups inside', async () => {
  await using forge = await startForge()
  const [jane, joe] = [await forge.user({ password: PASSWORD }), await forge.user({ password: PASSWORD })]
  const { body: group } = await forge.administrator.post('/groups', { name: 'Safe', path: 'safe' })
  const inner = { name: 'Inner', path: 'inner', parent_id: group.id }
  const { body: within } = await forge.administrator.post('/groups', inner)
  await forge.administrator.post(`/groups/${within.id}/members`, { user_id: jane.id, access_level: 30 })
  expect((await jane.get('/user/second_factor')).body.required_until).toBeNull()
  const asks = { require_two_factor_authentication: true, two_factor_grace_period: 0 }
  expect((await forge.administrator.put(`/groups/${group.id}`, asks)).body).toMatchObject(asks)
  expect((await jane.get('/user/second_factor')).body).toMatchObject({
    required_by: 'safe',
    required_until: expect.any(String),
  })
  expect((await joe.get('/user/second_factor')).body.required_until).toBeNull()
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  expect((await browser.get('/api/v4/projects')).status).toBe(403)
})
