import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { Browser } from '../../../../test/browser.ts'
import { CALLBACK, authorizePath, codeFor, exchangeCode, type Registered } from '../../../../test/oauth.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct-horse-battery'
const OWN = '/user/applications'
const INPUT = { name: 'Tool', redirect_uri: CALLBACK, scopes: 'read_user openid' }
const OFF = { message: '403 Forbidden - Users may not register applications here' }

const rows = ({ app }: TestForge) => app.db.selectFrom('oauth_applications').selectAll().orderBy('id').execute()
const tokens = ({ app }: TestForge) => app.db.selectFrom('oauth_tokens').selectAll().execute()
const switchTo = (forge: TestForge, isOn: boolean) =>
  forge.administrator.put('/application/settings', { user_oauth_applications: isOn })

async function register(person: Person, input = {}): Promise<Registered> {
  const { status, body } = await person.post(OWN, { ...INPUT, ...input })
  expect(status).toBe(201)
  return { id: body.id, client_id: body.application_id, client_secret: body.secret, name: body.application_name }
}

async function signedIn(forge: TestForge, username: string): Promise<Browser> {
  const browser = new Browser(forge.url)
  await browser.signIn(username, PASSWORD)
  return browser
}

test('a person registers, lists, changes, renews and deletes applications of their own', async () => {
  await using forge = await startForge()
  const [jane, joe] = [await forge.user(), await forge.user()]
  const created = await jane.post(OWN, INPUT)
  const { id } = created.body
  const record = {
    id,
    application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    application_name: 'Tool',
    callback_url: CALLBACK,
    confidential: true,
    scopes: ['read_user', 'openid'],
    created_at: expect.any(String),
  }
  const secret = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect([created.status, created.body]).toEqual([201, { ...record, secret }])
  expect((await jane.get(OWN)).body).toEqual([record])
  expect((await jane.get(`${OWN}/${id}`)).body).toEqual(record)
  expect((await joe.get(OWN)).body).toEqual([])

  const changed = { ...record, application_name: 'Tools', scopes: ['api'], confidential: false }
  const change = { name: 'Tools', scopes: 'api', confidential: false }
  expect(await jane.put(`${OWN}/${id}`, change)).toMatchObject({ status: 200, body: changed })
  const renewed = await jane.post(`${OWN}/${id}/renew-secret`)
  expect([renewed.status, renewed.body]).toEqual([201, { ...changed, secret }])
  expect(renewed.body.secret).not.toBe(created.body.secret)
  for (const { body } of [created, renewed]) expect(JSON.stringify(await rows(forge))).not.toContain(body.secret)

  expect((await jane.delete(`${OWN}/${id}`)).status).toBe(204)
  expect(await rows(forge)).toEqual([])
})

test('they are none of the instance’s; administrators find them at their owner', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user()
  const { id } = await register(jane)
  expect((await administrator.get('/applications')).body).toEqual([])
  const before = await rows(forge)
  expect((await administrator.delete(`/applications/${id}`)).status).toBe(404)
  expect((await administrator.post(`/applications/${id}/renew-secret`)).status).toBe(404)
  expect(await rows(forge)).toEqual(before)
  expect((await administrator.get(`/users/${jane.id}/applications`)).body).toMatchObject([{ id }])
  expect((await administrator.delete(`/users/${jane.id}/applications/${id}`)).status).toBe(204)
  expect(await rows(forge)).toEqual([])
})

test('somebody lets one in, told whose it is, and all of it goes with its owner', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const joe = await forge.user({ username: 'joe', password: PASSWORD })
  const application = await register(jane)
  const browser = await signedIn(forge, 'joe')
  const consent = await browser.get(authorizePath(application))
  expect([consent.status, consent.body.includes('created by the user <strong>jane</strong>')]).toEqual([200, true])
  const { body } = await exchangeCode(forge, application, await codeFor(browser, application))
  const bearer = forge.as({ Authorization: `Bearer ${body.access_token}` })
  expect((await bearer.get('/user')).body.username).toBe('joe')
  expect((await joe.get('/user/oauth_tokens')).body).toMatchObject([{ application: { application_name: 'Tool' } }])

  // Existing grants keep working while registration of applications is off.
  await switchTo(forge, false)
  expect((await bearer.get('/user')).status).toBe(200)

  expect((await forge.administrator.delete(`/users/${jane.id}`)).status).toBe(204)
  await forge.settle()
  expect([await rows(forge), await tokens(forge)]).toEqual([[], []])
  expect((await bearer.get('/user')).status).toBe(401)
})

test.each([
  ['a blank name', { name: ' ' }, { name: ["can't be blank"] }],
  ['half an address', { redirect_uri: '/callback' }, { redirect_uri: ['must be an absolute URI.'] }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
  ['an unknown scope', { scopes: 'api everything' }, { scopes: ["doesn't match configured on the server."] }],
])('refuses %s, new or changed', async (_what, wrong, message) => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id } = await register(jane)
  const before = await rows(forge)
  expect(await jane.post(OWN, { ...INPUT, ...wrong })).toMatchObject({ status: 400, body: { message } })
  expect(await jane.put(`${OWN}/${id}`, wrong)).toMatchObject({ status: 400, body: { message } })
  expect(await rows(forge)).toEqual(before)
})

test('nobody has more than a hundred, however many they ask for at once', async () => {
  await using forge = await startForge()
  const [jane, joe] = [await forge.user(), await forge.user()]
  for (let n = 0; n < 98; n++) await register(jane)
  const last = await atOnce(forge, ...Array.from({ length: 5 }, () => () => jane.post(OWN, INPUT)))
  expect(last.filter(({ status }) => status === 201)).toHaveLength(2)
  expect(await rows(forge)).toHaveLength(100)
  expect(await jane.post(OWN, INPUT)).toMatchObject({
    status: 409,
    body: { message: 'There are 100 applications already' },
  })
  expect((await joe.post(OWN, INPUT)).status).toBe(201)
})

test('while it is switched off none is made or changed, but those there are can be removed', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const { id } = await register(jane)
  await switchTo(forge, false)
  const before = await rows(forge)
  const answers = [
    await jane.post(OWN, INPUT),
    await jane.put(`${OWN}/${id}`, { name: 'x' }),
    await jane.post(`${OWN}/${id}/renew-secret`),
    await forge.administrator.post(OWN, INPUT),
  ]
  for (const { status, body } of answers) expect([status, body]).toEqual([403, OFF])
  expect(await rows(forge)).toEqual(before)
  const page = await (await signedIn(forge, 'jane')).get('/-/profile/applications', { Accept: 'text/html' })
  expect(page.body).toContain('has disabled new applications')
  expect(page.body).not.toContain('Create application')

  expect((await jane.get(OWN)).body).toHaveLength(1)
  expect((await jane.delete(`${OWN}/${id}`)).status).toBe(204)
})
