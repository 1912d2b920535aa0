import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { Browser } from '../../../../test/browser.ts'
import { codeFor, exchangeCode, oauthPost, registerApplication } from '../../../../test/oauth.ts'
import { sshKey } from '../../../../test/samples.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { byLfsToken, lfsAuthorization } from '../../../transport/lfs/token.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { rotateToken } from '../tokens/service.ts'
import { findUser } from '../users/queries.ts'
import { blockByDirectory, liftDirectoryBlock } from '../users/state.ts'

const password = 'correct horse'

/** A user with one credential of every kind, and functions that check which of them still work. */
async function laden(forge: TestForge) {
  const { administrator } = forge
  const jane: Person = await forge.user({ username: 'jane', password })
  const application = await registerApplication(forge, { scopes: 'api' })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', password)
  const { body: granted } = await exchangeCode(forge, application, await codeFor(browser, application))
  const code = await codeFor(browser, application)
  const { body: byPassword } = await oauthPost(forge, 'token', { grant_type: 'password', username: 'jane', password })
  const { body: personal } = await jane.post('/user/personal_access_tokens', { name: 'ci', scopes: ['api'] })
  const impersonations = `/users/${jane.id}/impersonation_tokens`
  const { body: impersonation } = await administrator.post(impersonations, { name: 'x', scopes: ['api'] })
  await jane.post('/user/keys', { title: 'laptop', key: sshKey() })

  const { app } = forge
  const project = (await findProjectById(app.db, (await forge.project({}, jane)).id))!
  const principal = { user: await findUser(app.db, jane.id), mayFetch: true, mayPush: true, via: 'token' } as const
  const basic = Buffer.from(lfsAuthorization(app, principal, project, 'upload')!.slice(6), 'base64').toString()
  const lfs = { username: 'jane', secret: basic.slice(5) }

  const opens = async (headers: Record<string, string>) => (await forge.as(headers).get('/user')).status === 200
  return {
    jane,
    browser,
    project,
    personal,
    granted,
    refresh: (token: string, client = {}) =>
      oauthPost(forge, 'token', { grant_type: 'refresh_token', refresh_token: token, ...client }),
    application,
    async alive() {
      const { body: keys } = await administrator.get(`/users/${jane.id}/keys`)
      const open = {
        private: await opens({ 'PRIVATE-TOKEN': jane.token }),
        personal: await opens({ 'PRIVATE-TOKEN': personal.token }),
        impersonation: await opens({ 'PRIVATE-TOKEN': impersonation.token }),
        oauth: await opens({ Authorization: `Bearer ${granted.access_token}` }),
        oauthByPassword: await opens({ Authorization: `Bearer ${byPassword.access_token}` }),
        session: (await browser.get('/api/v4/user')).status === 200,
        lfs: (await byLfsToken(app, lfs)) !== null,
        keys: keys.length === 1,
      }
      return Object.entries(open).flatMap(([kind, is]) => (is ? [kind] : []))
    },
    /** Checked last, because it uses up the code. */
    codeOpens: async () => (await exchangeCode(forge, application, code)).status === 200,
  }
}

const ALL = ['private', 'personal', 'impersonation', 'oauth', 'oauthByPassword', 'session', 'lfs', 'keys']
const without = (...gone: string[]) => ALL.filter((kind) => !gone.includes(kind))

test('revoking everything leaves the password and, unless asked, the SSH keys', async () => {
  await using forge = await startForge()
  const { jane, alive, codeOpens, granted, refresh, application } = await laden(forge)
  const john = await forge.user()
  expect(await alive()).toEqual(ALL)

  forge.clock.advance(1000)
  expect(await jane.post('/user/revoke_credentials')).toMatchObject({
    status: 200,
    body: { personal_access_tokens: 1, impersonation_tokens: 1, oauth_tokens: 2, sessions: 1, ssh_keys: 0 },
  })
  expect(await alive()).toEqual(['keys'])
  expect(await codeOpens()).toBe(false)
  const { client_id, client_secret } = application
  expect((await refresh(granted.refresh_token, { client_id, client_secret })).status).toBe(401)
  expect((await john.get('/user')).status).toBe(200)

  const { status, body } = await forge.visitor.post('/session', { login: 'jane', password })
  expect(status).toBe(201)
  expect([typeof body.private_token, body.private_token === jane.token]).toEqual(['string', false])
  const revoked = await forge.administrator.post(`/users/${jane.id}/revoke_credentials`, { keys: true })
  expect(revoked.body).toMatchObject({ ssh_keys: 1, sessions: 0, oauth_tokens: 0 })
  expect(await alive()).toEqual([])
})

test('a token that is being rotated does not outlive the rest', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { body } = await jane.post('/user/personal_access_tokens', { name: 'ci', scopes: ['api'] })
  const token = await forge.app.db
    .selectFrom('access_tokens')
    .selectAll()
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow()
  let successor = ''
  const revoked = await whileLocked(
    forge,
    async (inside) => void (successor = (await rotateToken(inside, token, null)).secret),
    () => forge.administrator.post(`/users/${jane.id}/revoke_credentials`),
  )
  expect(revoked).toMatchObject({ status: 200, body: { personal_access_tokens: 1 } })
  expect((await forge.as({ 'PRIVATE-TOKEN': successor }).get('/user')).status).toBe(401)
})

test('an administrator’s password ends what the old one opened; tokens made on purpose stay', async () => {
  await using forge = await startForge()
  const { jane, alive, codeOpens } = await laden(forge)
  await forge.administrator.put(`/users/${jane.id}`, { password: 'another horse' })
  expect(await alive()).toEqual(without('session', 'oauthByPassword'))
  expect(await codeOpens()).toBe(false)
})

test('a blocked person’s credentials open nothing; unblocked, all but the session come back', async () => {
  await using forge = await startForge()
  const { jane, alive } = await laden(forge)
  await forge.administrator.post(`/users/${jane.id}/block`)
  expect(await alive()).toEqual(['keys'])
  await forge.administrator.post(`/users/${jane.id}/unblock`)
  expect(await alive()).toEqual(without('session'))

  const { app } = forge
  await blockByDirectory(app, (await findUser(app.db, jane.id))!)
  expect(await alive()).toEqual(['keys'])
  await liftDirectoryBlock(app, (await findUser(app.db, jane.id))!)
  expect(await alive()).toEqual(without('session'))
})

test('a private token is replaced by its owner, and by administrators who do not see the new one', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password })
  const { status, body } = await jane.post('/user/private_token/rotate')
  expect([status, body]).toEqual([200, { private_token: expect.stringMatching(/^[\w-]{20}$/) }])
  const fresh = forge.as({ 'PRIVATE-TOKEN': body.private_token })
  expect((await jane.get('/user')).status).toBe(401)
  expect((await fresh.get('/user')).body).toMatchObject({ id: jane.id })

  const byOffice = await forge.administrator.post(`/users/${jane.id}/private_token/rotate`)
  expect([byOffice.status, byOffice.body]).toEqual([204, ''])
  expect((await fresh.get('/user')).status).toBe(401)
  const signedIn = await forge.visitor.post('/session', { login: jane.username, password })
  expect((await forge.as({ 'PRIVATE-TOKEN': signedIn.body.private_token }).get('/user')).status).toBe(200)
})

test('neither a token of some scopes nor sudo leads to a private token', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user()
  const { body: token } = await administrator.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'] })
  const scoped = forge.as({ 'PRIVATE-TOKEN': token.token })
  expect((await scoped.post('/user/private_token/rotate')).status).toBe(403)
  expect((await administrator.post('/user/private_token/rotate', {}, { Sudo: jane.username })).status).toBe(403)
  expect([(await administrator.get('/user')).status, (await jane.get('/user')).status]).toEqual([200, 200])
})

test('sessions and OAuth tokens are listed and end one by one', async () => {
  await using forge = await startForge()
  const { jane, browser, granted, application, alive } = await laden(forge)
  const other = new Browser(forge.url)
  await other.signIn('jane', password)

  const sessions = JSON.parse((await browser.get('/api/v4/user/sessions')).body)
  await forge.as({ Authorization: `Bearer ${granted.access_token}` }).get('/user')
  expect(sessions).toMatchObject([
    { current: false, last_used_at: null, ip_address: '127.0.0.1', user_agent: 'node' },
    { current: true, last_used_at: expect.any(String), ip_address: '127.0.0.1', user_agent: 'node' },
  ])
  expect((await jane.delete(`/user/sessions/${sessions[0].id}`)).status).toBe(204)
  expect((await other.get('/api/v4/user')).status).toBe(401)
  expect((await jane.delete(`/user/sessions/${sessions[0].id}`)).status).toBe(404)

  const listed = async () => (await forge.administrator.get(`/users/${jane.id}/oauth_tokens`)).body
  // Uses are written apart from the request.
  await expect.poll(async () => (await listed())[1].last_used_at).not.toBeNull()
  const tokens = await listed()
  expect(tokens).toMatchObject([
    { application: null, last_used_at: null },
    {
      last_used_at: expect.any(String),
      application: { id: application.id, application_name: application.name },
      scopes: ['api'],
    },
  ])
  expect(JSON.stringify([tokens, sessions])).not.toContain(granted.access_token)
  expect((await jane.delete(`/user/oauth_tokens/${tokens[1].id}`)).status).toBe(204)
  expect(await alive()).toEqual(without('oauth'))
  expect((await jane.get('/user/oauth_tokens')).body).toHaveLength(1)
})
