import { expect, test } from 'vitest'
import { Browser, type Page } from '../../../../test/browser.ts'
import { registerApplication, authorizePath } from '../../../../test/oauth.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const HTML = { Accept: 'text/html' }
const TERMS = '/-/users/terms'
const PATH = '/application/settings'

const enforce = (forge: TestForge, terms: string) => forge.administrator.put(PATH, { enforce_terms: true, terms })
const titleOf = ({ body }: Page) => /<h1>(.*?)<\/h1>/.exec(body)?.[1]
const digestOf = async (forge: TestForge, username: string) =>
  (await forge.app.db.selectFrom('users').select('accepted_terms').where('username', '=', username).executeTakeFirst())
    ?.accepted_terms

/** The status of a page and of an API call with the session cookie. */
async function reach(browser: Browser) {
  const page = await browser.get('/dashboard/todos', HTML)
  const api = await browser.get('/api/v4/projects')
  return [page.status, page.location, api.status]
}

test('a session opens nothing else until the terms are accepted; tokens go on', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  await enforce(forge, 'Be **kind**.')
  const browser = new Browser(forge.url)
  const led = await browser.signIn('jane', PASSWORD, '/dashboard/todos')
  expect(led).toMatchObject({ status: 303, location: `${TERMS}?return_to=%2Fdashboard%2Ftodos` })
  expect(await reach(browser)).toEqual([303, `${TERMS}?return_to=%2Fdashboard%2Ftodos`, 403])
  expect(JSON.parse((await browser.get('/api/v4/user')).body)).toEqual({
    message: '403 Forbidden - Accept the terms first',
  })
  expect((await browser.get('/-/csrf')).status).toBe(401)
  expect(await browser.get('/users/sign_in?return_to=/a')).toMatchObject({ location: `${TERMS}?return_to=%2Fa` })
  expect((await jane.get('/user')).status).toBe(200)

  const page = await browser.get(led.location!)
  expect([titleOf(page), page.body.includes('<strong>kind</strong>')]).toEqual(['Accept the terms of service', true])
  expect(await browser.submit(page)).toMatchObject({ status: 303, location: '/dashboard/todos' })
  expect(await reach(browser)).toEqual([200, null, 200])
  expect(titleOf(await browser.get(TERMS))).toBe('Terms of service')

  // The same text is not asked for again; a new text is asked of everybody.
  await forge.administrator.put(PATH, { enforce_terms: false })
  await enforce(forge, 'Be **kind**.')
  expect(await reach(browser)).toEqual([200, null, 200])
  await enforce(forge, 'Be **quiet**.')
  expect((await reach(browser))[2]).toBe(403)
  const stale = await browser.submit(page)
  expect([stale.status, stale.body.includes('The terms have changed')]).toEqual([409, true])
  expect((await reach(browser))[2]).toBe(403)
  expect((await browser.submit(stale)).status).toBe(303)
  expect(await reach(browser)).toEqual([200, null, 200])
})

test('who declines is signed out, and has accepted nothing', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  await enforce(forge, 'Be kind.')
  const browser = new Browser(forge.url)
  const page = await browser.get((await browser.signIn('jane', PASSWORD)).location!)
  const decline = { ...page, body: page.body.slice(page.body.indexOf('<form method="post" action="/users/sign_out"')) }
  expect(await browser.submit(decline)).toMatchObject({ status: 303, location: '/users/sign_in' })
  expect(await forge.app.db.selectFrom('sessions').selectAll().execute()).toEqual([])
  expect(await digestOf(forge, 'jane')).toBeNull()
})

test('accepting needs the code of the browser, and somebody who is signed in', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  await enforce(forge, 'Be kind.')
  const browser = new Browser(forge.url)
  const page = await browser.get((await browser.signIn('jane', PASSWORD)).location!)
  const terms = /name="terms" value="([^"]*)"/.exec(page.body)![1]!
  expect((await browser.post(TERMS, { terms })).status).toBe(403)
  const visitor = new Browser(forge.url)
  const form = await visitor.get('/users/sign_in')
  const posted = await visitor.submit({ ...form, body: form.body.replace('/users/sign_in', TERMS) }, { terms })
  expect(posted).toMatchObject({ status: 303, location: '/users/sign_in' })
  expect(await digestOf(forge, 'jane')).toBeNull()
})

test('the administrator who asks for them is asked too, and goes on', async () => {
  await using forge = await startForge()
  const boss = await forge.user({ username: 'boss', password: PASSWORD, admin: true })
  const browser = new Browser(forge.url)
  await browser.signIn('boss', PASSWORD)
  expect((await boss.put(PATH, { enforce_terms: true, terms: 'Be kind.' })).status).toBe(200)
  const led = await browser.get('/admin', HTML)
  expect(led.location).toBe(`${TERMS}?return_to=%2Fadmin`)
  expect(await browser.submit(await browser.get(led.location!))).toMatchObject({ location: '/admin' })
  expect((await browser.get('/admin', HTML)).status).toBe(200)
})

test('everybody reads them; where there are none there is no page', async () => {
  await using forge = await startForge()
  const visitor = new Browser(forge.url)
  expect((await visitor.get(TERMS)).status).toBe(404)
  await enforce(forge, 'Be <script>kind</script>.')
  const page = await visitor.get(TERMS)
  expect([page.status, titleOf(page), page.body.includes('<script')]).toEqual([200, 'Terms of service', false])
  expect(page.body).not.toContain('<form')
})

test('registration includes acceptance of the terms', async () => {
  await using forge = await startForge()
  await forge.administrator.put(PATH, { require_admin_approval_after_user_signup: false })
  await enforce(forge, 'Be kind.')
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_up?return_to=/explore')
  const terms = /name="user\[terms\]" value="([^"]*)"/.exec(page.body)![1]!
  const fields = {
    'user[name]': 'Jane',
    'user[username]': 'jane',
    'user[email]': 'jane@example.com',
    'user[password]': PASSWORD,
  }
  const without = await browser.submit(page, fields)
  expect([without.status, without.body.includes('The terms must be accepted.')]).toEqual([422, true])
  await enforce(forge, 'Be quiet.')
  const stale = await browser.submit(page, { ...fields, 'user[terms]': terms })
  expect([stale.status, stale.body.includes('The terms have changed')]).toEqual([422, true])
  expect(await digestOf(forge, 'jane')).toBeUndefined()
  const now = /name="user\[terms\]" value="([^"]*)"/.exec(stale.body)![1]!
  expect(await browser.submit(stale, { ...fields, 'user[terms]': now })).toMatchObject({ location: '/explore' })
  expect(await reach(browser)).toEqual([200, null, 200])
})

test('an application is granted nothing before, and is gone on with afterwards', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  const application = await registerApplication(forge)
  await enforce(forge, 'Be kind.')
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  const page = await browser.get(authorizePath(application))
  expect(page.location).toMatch(/^\/users\/sign_in\?/)
  const led = await browser.get(page.location!)
  expect(led.location).toMatch(/^\/-\/users\/terms\?return_to=%2Foauth%2Fauthorize/)
  const accepted = await browser.submit(await browser.get(led.location!))
  expect((await browser.get(accepted.location!)).status).toBe(200)
})
