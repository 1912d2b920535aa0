import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authenticator } from '../../../../test/authenticator.ts'
import { Browser, hiddenFields, type Page } from '../../../../test/browser.ts'
import { call } from '../../../../test/cases.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct-horse-battery'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge[Symbol.asyncDispose]())

interface RequestContext {
  ticket: string
  options: { challenge: string; allowCredentials?: { id: string }[]; userVerification: string }
}

const begin = async (jane: Person): Promise<RequestContext> =>
  (await jane.post('/user/passkeys/options', { password: PASSWORD })).body

async function withPasskey() {
  const jane = await forge.user({ password: PASSWORD })
  const device = new Authenticator(forge.url)
  const { ticket, options } = await begin(jane)
  const added = await jane.post('/user/passkeys', { ticket, name: 'Laptop', credential: device.create(options) })
  expect(added).toMatchObject({ status: 201, body: { name: 'Laptop', last_used_at: null } })
  return { jane, device, added: added.body }
}

const isSignedIn = async (browser: Browser) =>
  (await browser.get('/-/csrf', { Accept: 'application/json' })).status === 200

/** Requests the options as the script of the page does. */
async function optionsOf(browser: Browser, page: Page): Promise<RequestContext> {
  const { authenticity_token = '', ticket = '' } = hiddenFields(page)
  const answer = await browser.post('/users/sign_in/passkey/options', { authenticity_token, ticket })
  expect(answer.status).toBe(200)
  return JSON.parse(answer.body)
}

const show = (browser: Browser, page: Page, { ticket }: RequestContext, credential: object) =>
  browser.post('/users/sign_in/passkey', {
    ...hiddenFields(page),
    challenge: ticket,
    credential: JSON.stringify(credential),
  })

test('it is added with the password, and is a second factor from then on', async () => {
  const { jane, device, added } = await withPasskey()
  expect(added.recovery_codes).toHaveLength(10)
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(true)
  expect((await jane.get('/user/second_factor')).body).toMatchObject({
    enabled: true,
    totp_enabled: false,
    recovery_codes_left: 10,
  })
  expect((await forge.visitor.post('/session', { login: jane.username, password: PASSWORD })).status).toBe(401)

  const browser = new Browser(forge.url)
  const page = await browser.signIn(jane.username, PASSWORD)
  expect(page.body).toContain('Sign in with a passkey')
  const asked = await optionsOf(browser, page)
  expect(asked.options.allowCredentials).toMatchObject([{ id: device.id.toString('base64url') }])
  device.isVerifying = false
  expect(await show(browser, page, asked, device.get(asked.options))).toMatchObject({ status: 303 })
  expect(await isSignedIn(browser)).toBe(true)
  const [listed] = (await jane.get('/user/passkeys')).body
  expect(listed).toMatchObject({ name: 'Laptop', last_used_at: expect.any(String) })

  const second = await begin(jane)
  const other = new Authenticator(forge.url)
  const more = { ticket: second.ticket, name: 'Phone', credential: other.create(second.options) }
  expect((await jane.post('/user/passkeys', more)).body.recovery_codes).toEqual([])
})

test('it signs in without a password where the device makes sure of its holder', async () => {
  const { jane, device } = await withPasskey()
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_in?return_to=/-/profile')
  const asked = await optionsOf(browser, page)
  expect(asked.options).toMatchObject({ userVerification: 'required' })
  device.isVerifying = false
  expect((await show(browser, page, asked, device.get(asked.options))).status).toBe(401)
  expect(await isSignedIn(browser)).toBe(false)
  device.isVerifying = true
  const again = await optionsOf(browser, page)
  const answer = await show(browser, page, again, device.get(again.options))
  expect(answer).toMatchObject({ status: 303, location: '/-/profile' })
  expect(await isSignedIn(browser)).toBe(true)

  await forge.administrator.post(`/users/${jane.id}/block`)
  const blocked = new Browser(forge.url)
  const last = await blocked.get('/users/sign_in')
  const final = await optionsOf(blocked, last)
  expect((await show(blocked, last, final, device.get(final.options))).status).toBe(403)
  expect(await isSignedIn(blocked)).toBe(false)
})

test('nothing else signs in', async () => {
  const { device } = await withPasskey()
  const { jane: joe, device: theirs } = await withPasskey()
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_in')
  const refused = async (asked: RequestContext, credential: object, on = page) => {
    expect((await show(browser, on, asked, credential)).status).toBe(401)
    expect(await isSignedIn(browser)).toBe(false)
    forge.clock.advance(MINUTE)
  }

  const elsewhere = await optionsOf(browser, page)
  device.origin = 'http://phishing.example'
  await refused(elsewhere, device.get(elsewhere.options))
  device.origin = forge.url
  const port = await optionsOf(browser, page)
  device.origin = forge.url.replace(/:\d+$/, ':1')
  await refused(port, device.get(port.options))
  device.origin = forge.url

  const other = await optionsOf(browser, page)
  await refused(other, device.get(elsewhere.options))
  const late = await optionsOf(browser, page)
  forge.clock.advance(6 * MINUTE)
  await refused(late, device.get(late.options))
  const stranger = await optionsOf(browser, page)
  await refused(stranger, new Authenticator(forge.url).get(stranger.options))
  await refused({ ...stranger, ticket: 'x' }, device.get(stranger.options))
  for (const credential of [{}, { id: 1 }, 'x']) await refused(await optionsOf(browser, page), credential as object)

  // After the password of one user, the passkey of another is rejected.
  const step = await browser.signIn(joe.username, PASSWORD)
  const second = await optionsOf(browser, step)
  await refused(second, device.get(second.options), step)
  const alone = await optionsOf(browser, page)
  await refused(alone, theirs.get(alone.options), step)

  const good = await optionsOf(browser, page)
  const credential = device.get(good.options)
  const entered = new Browser(forge.url)
  const own = await entered.get('/users/sign_in')
  expect((await show(entered, own, good, credential)).status).toBe(303)
  await refused(good, credential)
  const back = await optionsOf(browser, page)
  device.counter = 0
  await refused(back, device.get(back.options))
})

test('an open browser session alone can neither add nor remove passkeys', async () => {
  const { jane, device, added } = await withPasskey()
  const joe = await forge.user({ password: PASSWORD })
  const wrong = { status: 400, body: { message: 'Invalid password' } }
  expect(await jane.post('/user/passkeys/options', { password: 'wrong' })).toMatchObject(wrong)
  expect((await jane.post('/user/passkeys/options')).status).toBe(400)
  const { ticket, options } = await begin(joe)
  const credential = new Authenticator(forge.url).create(options)
  expect((await jane.post('/user/passkeys', { ticket, name: 'x', credential })).status).toBe(400)
  const created = { ticket, name: 'x', credential: device.create(options) }
  expect((await joe.post('/user/passkeys', created)).status).toBe(400)
  expect((await joe.get('/user/passkeys')).body).toEqual([])
  expect((await joe.get('/user')).body.two_factor_enabled).toBe(false)

  const path = `/user/passkeys/${added.id}`
  expect((await joe.put(path, { name: 'mine' })).status).toBe(404)
  expect((await joe.delete(path, { password: PASSWORD })).status).toBe(404)
  expect(await jane.delete(path, { password: 'wrong' })).toMatchObject(wrong)
  expect(await jane.put(path, { name: 'x'.repeat(256) })).toMatchObject({
    status: 400,
    body: { message: { name: ['is too long (maximum is 255 characters)'] } },
  })
  expect(await jane.put(path, { name: ` ${'x'.repeat(255)} ` })).toMatchObject({ status: 200 })
  expect(await jane.put(path, { name: ' Phone ' })).toMatchObject({ status: 200, body: { name: 'Phone' } })
  expect((await forge.administrator.delete(path, { sudo: jane.username, password: PASSWORD })).status).toBe(403)
  expect((await jane.get('/user/passkeys')).body).toHaveLength(1)
  const [code] = added.recovery_codes
  expect((await jane.delete(path, { code })).status).toBe(204)
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(false)
  const left = forge.app.db.selectFrom('recovery_codes').selectAll().where('user_id', '=', jane.id)
  expect(await left.execute()).toEqual([])
})

test('an administrator switches it off', async () => {
  const { jane } = await withPasskey()
  expect((await call(forge.administrator, 'PATCH', `/users/${jane.id}/disable_two_factor`)).status).toBe(204)
  expect((await jane.get('/user/passkeys')).body).toEqual([])
  expect((await jane.get('/user')).body.two_factor_enabled).toBe(false)
  expect(await new Browser(forge.url).signIn(jane.username, PASSWORD)).toMatchObject({ status: 303 })
})
