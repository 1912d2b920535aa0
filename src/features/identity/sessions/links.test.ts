import { expect, test } from 'vitest'
import { Browser, type Page } from '../../../../test/browser.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const DAY = 86_400_000
const NEW_USER = { email: 'jane@example.com', username: 'jane', name: 'Jane' }

const choose = (browser: Browser, page: Page, password: string) =>
  browser.submit(page, { 'user[password]': password, 'user[password_confirmation]': password })

async function askForReset(forge: TestForge, email: string): Promise<Page> {
  const browser = new Browser(forge.url)
  return browser.submit(await browser.get('/users/password/new'), { 'user[email]': email })
}

test('a user made without a password chooses one by mail, which confirms the address', async () => {
  await using forge = await startForge()
  await forge.administrator.post('/users', { ...NEW_USER, reset_password: true })
  const mails = await mailsOf(forge)
  expect(mails).toMatchObject([{ to: 'jane@example.com', subject: 'Set your password' }])
  const link = linkIn(mails[0]!)
  expect(link).toMatch(/^\/users\/password\/edit\?reset_password_token=[0-9a-f]{64}$/)

  const browser = new Browser(forge.url)
  const page = await browser.get(link)
  expect(page.status).toBe(200)
  expect((await choose(browser, page, 'short')).status).toBe(422)
  expect((await choose(browser, page, 'x'.repeat(129))).status).toBe(422)
  expect((await choose(browser, page, PASSWORD)).status).toBe(200)
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)

  expect((await browser.get(link)).status).toBe(404)
  expect((await new Browser(forge.url).get(link)).status).toBe(404)
  const late = new Browser(forge.url)
  const token = new URL(link, forge.url).searchParams.get('reset_password_token')!
  const form = await late.get('/users/password/new')
  const replay = { ...form, body: form.body.replace('/users/password/new', '/users/password/edit') }
  const used = await late.submit(replay, { reset_password_token: token, password: 'another horse' })
  expect(used.status).toBe(404)
  expect((await new Browser(forge.url).signIn('jane', PASSWORD)).status).toBe(303)
})

test('other new users confirm their address; opening the link is not enough', async () => {
  await using forge = await startForge()
  const { body: jane } = await forge.administrator.post('/users', { ...NEW_USER, password: PASSWORD })
  const [mail, ...rest] = await mailsOf(forge)
  expect(rest).toEqual([])
  expect(mail).toMatchObject({ to: 'jane@example.com', subject: 'Confirm your email address' })
  const link = linkIn(mail!)
  expect(link).toMatch(/^\/users\/confirmation\?confirmation_token=[0-9a-f]{64}$/)

  const browser = new Browser(forge.url)
  const page = await browser.get(link)
  const confirmedAt = async () => (await forge.administrator.get(`/users/${jane.id}`)).body.confirmed_at
  expect([page.status, await confirmedAt()]).toEqual([200, null])
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(403)
  expect((await browser.submit(page)).status).toBe(200)
  expect(await confirmedAt()).not.toBeNull()
  expect((await browser.submit(page)).status).toBe(404)
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
})

test('a new user gets the welcome text of the instance once', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { after_sign_up_text: 'Read the **rules**.' })
  const words = '<strong>rules</strong>'
  await forge.administrator.post('/users', { ...NEW_USER, reset_password: true })
  const browser = new Browser(forge.url)
  const [first] = await mailsOf(forge)
  expect((await choose(browser, await browser.get(linkIn(first!)), PASSWORD)).body).toContain(words)
  await browser.signIn('jane', PASSWORD)
  await askForReset(forge, NEW_USER.email)
  const resets = (await mailsOf(forge)).filter(({ subject }) => subject === 'Set your password').map(linkIn)
  const second = resets.find((link) => link !== linkIn(first!))!
  const later = await choose(browser, await browser.get(second), 'another horse')
  expect(later.body).toContain('You have been signed out of all sessions')
  expect(later.body).not.toContain(words)

  await forge.administrator.post('/users', {
    email: 'joe@example.com',
    username: 'joe',
    name: 'Joe',
    password: PASSWORD,
  })
  const joe = new Browser(forge.url)
  const link = linkIn((await mailsOf(forge)).find(({ to }) => to === 'joe@example.com')!)
  expect((await joe.submit(await joe.get(link))).body).toContain(words)
})

test('nobody is mailed who is confirmed or blocked', async () => {
  await using forge = await startForge()
  await forge.administrator.post('/users', { ...NEW_USER, password: PASSWORD, skip_confirmation: true })
  await forge.user({ username: 'blocked', blocked: true })
  await askForReset(forge, 'blocked@example.com')
  await askForReset(forge, 'ghost@ghost.invalid')
  expect(await mailsOf(forge)).toEqual([])
})

test('a reset ends all sessions, lifts a lock and works for two days', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  for (let n = 0; n < 10; n++) await forge.visitor.post('/session', { login: 'jane', password: 'wrong horse' })
  forge.clock.advance(61_000)
  expect((await new Browser(forge.url).signIn('jane', PASSWORD)).status).toBe(401)
  await askForReset(forge, 'Jane@Example.com')
  await askForReset(forge, 'jane@example.com')
  const [first, second] = (await mailsOf(forge)).map(linkIn)
  forge.clock.advance(2 * DAY - 60_000)

  const page = await browser.get(first!)
  expect((await choose(browser, page, 'another horse')).status).toBe(200)
  expect((await browser.get('/api/v4/user')).status).toBe(401)
  expect((await browser.signIn('jane', 'another horse')).status).toBe(303)
  expect((await new Browser(forge.url).get(second!)).status).toBe(404)
})

test('a link ends with its time, with the address and with a block', async () => {
  await using forge = await startForge()
  const people = await Promise.all(['late', 'moved', 'blocked'].map((username) => forge.user({ username })))
  const browser = new Browser(forge.url)
  const pages: Page[] = []
  for (const { email } of people) {
    await askForReset(forge, email)
    const mail = (await mailsOf(forge)).find(({ to }) => to === email)
    pages.push(await browser.get(linkIn(mail!)))
  }
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200])
  await forge.administrator.put(`/users/${people[1]!.id}`, { email: 'elsewhere@example.com' })
  await forge.administrator.post(`/users/${people[2]!.id}/block`)
  expect((await choose(browser, pages[1]!, PASSWORD)).status).toBe(404)
  expect((await choose(browser, pages[2]!, PASSWORD)).status).toBe(404)
  forge.clock.advance(2 * DAY)
  expect((await choose(browser, pages[0]!, PASSWORD)).status).toBe(404)
  for (const { username } of people) expect((await browser.signIn(username, PASSWORD)).status).toBe(401)
})

test('a link serves one purpose only', async () => {
  await using forge = await startForge()
  await forge.administrator.post('/users', { ...NEW_USER, password: PASSWORD })
  const [mail] = await mailsOf(forge)
  const token = new URL(linkIn(mail!), forge.url).searchParams.get('confirmation_token')!
  const browser = new Browser(forge.url)
  expect((await browser.get(`/users/password/edit?reset_password_token=${token}`)).status).toBe(404)
  expect((await browser.get('/users/password/edit')).status).toBe(404)
  expect((await browser.get('/users/confirmation?confirmation_token[]=x')).status).toBe(404)
})

test('asking for a reset tells nobody which addresses have accounts', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await forge.administrator.post(`/users/${jane.id}/emails`, { email: 'second@example.com', skip_confirmation: true })
  const addresses = [
    'jane@example.com',
    'nobody@example.com',
    'second@example.com',
    'jane+tag@example.com',
    'jane@exámple.com',
    'ⓙane@example.com',
  ]
  const answers = await Promise.all(addresses.map((address) => askForReset(forge, address)))
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]!.body])
  expect((await mailsOf(forge)).map(({ to }) => to)).toEqual(['jane@example.com'])
})

test('a list of addresses, another type and no address at all are refused', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane' })
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/password/new')
  const token = /name="authenticity_token" value="([^"]*)"/.exec(page.body)![1]!
  const send = (input: unknown) =>
    browser.request('/users/password/new', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': token },
      body: JSON.stringify(input),
    })
  const both = ['jane@example.com', 'evil@example.com']
  const inputs = [
    { user: { email: both } },
    { email: both },
    { email: { 0: 'jane@example.com' } },
    { email: both.join(',') },
    { email: both.join(' ') },
    {},
  ]
  for (const input of inputs) expect((await send(input)).status, JSON.stringify(input)).toBe(422)
  const form = `user[email][]=${both[0]}&user[email][]=${both[1]}&authenticity_token=${encodeURIComponent(token)}`
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  expect((await browser.request('/users/password/new', { method: 'POST', body: form, headers })).status).toBe(422)
  expect((await browser.post('/users/password/new', { email: 'jane@example.com' })).status).toBe(403)
  expect(await mailsOf(forge)).toEqual([])
})

test('an address asks ten times a minute at most', async () => {
  await using forge = await startForge()
  for (let n = 0; n < 10; n++) expect((await askForReset(forge, `u${n}@example.com`)).status).toBe(200)
  expect((await askForReset(forge, 'u@example.com')).status).toBe(429)
  forge.clock.advance(61_000)
  expect((await askForReset(forge, 'u@example.com')).status).toBe(200)
})

test('a link opens nothing once the password was changed otherwise, or all credentials were revoked', async () => {
  await using forge = await startForge()
  const browser = new Browser(forge.url)
  const ends: [string, (id: number) => Promise<unknown>][] = [
    ['changed', (id) => forge.administrator.put(`/users/${id}`, { password: 'handed over' })],
    ['revoked', (id) => forge.administrator.post(`/users/${id}/revoke_credentials`)],
  ]
  for (const [username, end] of ends) {
    const { id, email } = await forge.user({ username, password: PASSWORD })
    await askForReset(forge, email)
    const page = await browser.get(linkIn((await mailsOf(forge)).find(({ to }) => to === email)!))
    await end(id)
    expect([username, (await choose(browser, page, 'another horse')).status]).toEqual([username, 404])
  }
})

test('a mailbox gets at most ten links an hour, and no caller learns which were sent', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user({ username: 'jane' }), await forge.user({ username: 'john' })]
  const answers: string[] = []
  for (let n = 0; n < 12; n++) {
    const { status, body } = await askForReset(forge, jane.email)
    answers.push(`${status} ${body}`)
    if (n % 5 === 4) forge.clock.advance(61_000) // otherwise the address of the caller is rate limited
  }
  expect(new Set(answers).size).toBe(1)
  await askForReset(forge, john.email)
  const mails = await mailsOf(forge)
  expect(mails.filter(({ to }) => to === jane.email)).toHaveLength(10)
  expect(mails.filter(({ to }) => to === john.email)).toHaveLength(1)
})
