import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { oauthPost } from '../../../../test/oauth.ts'
import { startForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const FAULT = 'The LDAP server cannot be reached. Try again later.'

/** Nothing listens on this port. */
const settings = { LDAP_URL: 'ldap://127.0.0.1:1', LDAP_BASE: 'dc=example,dc=org' }

test('without its directory a forge lets its own people in and tells everybody else why it cannot', async () => {
  const lines: string[] = []
  await using forge = await startForge({ settings, logTo: { write: (line) => void lines.push(line) } })
  await forge.user({ username: 'john', password: PASSWORD })
  const jane = await forge.user({ username: 'jane', password: PASSWORD, provider: 'ldapmain', extern_uid: 'uid=jane' })
  const doors = (login: string, password = PASSWORD) =>
    Promise.all([
      forge.visitor.post('/session', { login, password }),
      new Browser(forge.url).signIn(login, password),
      oauthPost(forge, 'token', { grant_type: 'password', username: login, password }),
    ])

  expect((await doors('john')).map(({ status }) => status)).toEqual([201, 303, 200])
  // A local password is not the directory's, and the answer does not reveal which users exist.
  for (const [login, password] of [['jane'], ['nobody'], ['john', 'wrong horse']] as const) {
    const [api, web, oauth] = await doors(login, password)
    expect(api).toMatchObject({ status: 401, body: { message: `401 Unauthorized. ${FAULT}` } })
    expect([web.status, web.body.includes(FAULT)]).toEqual([401, true])
    expect(oauth).toMatchObject({ status: 401, body: { error: 'invalid_grant' } })
  }
  expect(lines.filter((line) => line.includes('a sign-in could not be checked'))).toHaveLength(9)
  expect(lines.join('')).not.toContain(PASSWORD)
  expect((await jane.get('/user')).status).toBe(200)
})

test('meanwhile wrong guesses still lock an account of the forge, and unchecked ones lock nobody', async () => {
  await using forge = await startForge({ settings })
  await forge.user({ username: 'john', password: PASSWORD })
  const jane = await forge.user({ username: 'jane', provider: 'ldapmain', extern_uid: 'uid=jane' })
  for (const login of ['john', 'jane']) {
    for (let n = 0; n < 10; n++) await forge.visitor.post('/session', { login, password: 'wrong horse' })
    forge.clock.advance(61_000)
  }
  expect((await forge.visitor.post('/session', { login: 'john', password: PASSWORD })).status).toBe(401)
  const guesses = await forge.app.db
    .selectFrom('throttles')
    .select('count')
    .where('key', 'like', `password ${jane.id} %`)
    .execute()
  expect(guesses).toEqual([{ count: 0 }, { count: 0 }])
})

test('an identity of a provider that is no configured directory changes nothing', async () => {
  await using forge = await startForge({ settings })
  await forge.user({ username: 'jane', password: PASSWORD, provider: 'ldapother', extern_uid: 'uid=jane' })
  expect((await forge.visitor.post('/session', { login: 'jane', password: PASSWORD })).status).toBe(201)
})
