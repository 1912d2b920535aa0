/** Signing in with a directory password, by every way to sign in, against a real slapd. */
import { expect, test } from 'vitest'
import type { User } from '../../src/context.ts'
import { signInByDirectory } from '../../src/features/identity/sessions/directory.ts'
import { startForge, type TestForge } from '../../src/forge.ts'
import { Browser } from '../browser.ts'
import { BASE, startDirectory, type TestDirectory } from '../directory.ts'
import { oauthPost } from '../oauth.ts'

const PASSWORD = 'correct horse'
const OWN = 'another horse'
const JANE = `uid=jane,${BASE}`

const startWith = (server: TestDirectory) => startForge({ settings: server.settings })

const tryIn = (forge: TestForge, login: string, password = PASSWORD) =>
  forge.visitor.post('/session', { login, password })

const userRow = (forge: TestForge, username: string) =>
  forge.app.db.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirstOrThrow()

const setUser = (forge: TestForge, id: number, change: object) =>
  forge.app.db.updateTable('users').set(change).where('id', '=', id).execute()

test('the first sign-in makes an account, the next ones find it, through every door', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD, name: 'Jane Doe', mail: 'Jane.Doe@example.org' })
  await using forge = await startWith(server)
  expect(await tryIn(forge, 'jane', 'wrong horse')).toMatchObject({
    status: 401,
    body: { message: '401 Unauthorized' },
  })
  expect(await forge.events()).toEqual([])

  const first = await tryIn(forge, 'jane')
  expect(first).toMatchObject({
    status: 201,
    body: {
      username: 'jane',
      name: 'Jane Doe',
      email: 'jane.doe@example.org',
      state: 'active',
      is_admin: false,
      identities: [{ provider: 'ldapmain', extern_uid: JANE }],
    },
  })
  expect(await userRow(forge, 'jane')).toMatchObject({ password_digest: null, confirmed_at: expect.any(String) })
  for (const login of ['JANE', 'jane.doe@example.org']) {
    expect(await tryIn(forge, login)).toMatchObject({ status: 201, body: { id: first.body.id } })
  }
  expect(await new Browser(forge.url).signIn('jane', PASSWORD)).toMatchObject({ status: 303, location: '/' })
  const token = await oauthPost(forge, 'token', { grant_type: 'password', username: 'jane', password: PASSWORD })
  expect(token).toMatchObject({ status: 200, body: { access_token: expect.any(String) } })
  await forge.settle()
  expect(await forge.events()).toEqual(['user.created'])

  await server.change(JANE, { userPassword: OWN })
  expect((await tryIn(forge, 'jane', OWN)).status).toBe(201)
  await server.remove(JANE)
  forge.clock.advance(61_000)
  for (const password of [PASSWORD, OWN, '', ' ']) expect((await tryIn(forge, 'jane', password)).status).toBe(401)
})

// Skips the comparison of passwords, which would serialize the calls.
test('first sign-ins side by side make one account', async () => {
  await using server = await startDirectory()
  await using forge = await startWith(server)
  for (let round = 0; round < 5; round++) {
    const login = `jane${round}`
    await server.person({ uid: login, password: PASSWORD })
    const tries = Array.from({ length: 10 }, () =>
      signInByDirectory(forge.app, { login, password: PASSWORD, identities: [] }),
    )
    const users = (await Promise.all(tries)) as User[]
    expect(users.map(({ username }) => username)).toEqual(Array(10).fill(login))
  }
})

test('usernames are made fit for the forge and free', async () => {
  await using server = await startDirectory()
  await using forge = await startWith(server)
  await forge.user({ username: 'Taken' })
  for (const [uid, username] of [
    ['jane.doe', 'jane.doe'],
    ['Jürgen Müller', 'jurgen-muller'],
    ['jim@corp.example', 'jim'],
    ['jim', 'jim1'],
    ['taken', 'taken1'],
    ['admin', 'admin1'],
    ['-', 'user'],
    ['小明', 'user1'],
    ['repo.git', 'repo-git'],
  ]) {
    await server.person({ uid: uid!, password: PASSWORD, mail: `${username}@example.org` })
    expect([uid, (await tryIn(forge, uid!)).body.username]).toEqual([uid, username])
    expect([uid, (await tryIn(forge, uid!)).body.username]).toEqual([uid, username])
  }
})

test("people of the forge keep their own password, and a directory's namesake is somebody else", async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD, mail: 'other@example.org' })
  await using forge = await startWith(server)
  const local = await forge.user({ username: 'jane', password: OWN })
  expect(await tryIn(forge, 'jane', OWN)).toMatchObject({ status: 201, body: { id: local.id } })
  const other = await tryIn(forge, 'jane')
  expect(other).toMatchObject({ status: 201, body: { username: 'jane1', email: 'other@example.org' } })
  expect(await tryIn(forge, 'jane', OWN)).toMatchObject({ status: 201, body: { id: local.id } })
  const guesses = forge.app.db.selectFrom('throttles').select('count').where('key', 'like', `password ${local.id} %`)
  expect((await guesses.execute()).filter(({ count }) => count > 0)).toEqual([])
})

test('a person of the directory has its password only, and is known by a DN written in any form', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startWith(server)
  const identity = { provider: 'ldapmain', extern_uid: 'UID=Jane, OU=People, DC=Example, DC=org' }
  const jane = await forge.user({ username: 'mary', email: 'mary@example.com', password: OWN, ...identity })
  for (const login of ['jane', 'mary', 'mary@example.com']) {
    expect([login, (await tryIn(forge, login)).body.id]).toEqual([login, jane.id])
    expect([login, (await tryIn(forge, login, OWN)).status]).toEqual([login, 401])
  }
})

test('ten wrong passwords lock an account of the directory too', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startWith(server)
  expect((await tryIn(forge, 'jane')).status).toBe(201)
  for (let n = 0; n < 10; n++) await tryIn(forge, 'jane', 'wrong horse')
  forge.clock.advance(61_000)
  expect(await tryIn(forge, 'jane')).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } })
  forge.clock.advance(10 * 60_000)
  expect((await tryIn(forge, 'jane')).status).toBe(201)
})

test('an account with the email address of the person becomes theirs', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startWith(server)
  const local = await forge.user({ username: 'jd', email: 'jane@example.org', password: OWN })
  await forge.administrator.put(`/users/${local.id}`, { password: 'handed over' })

  expect((await new Browser(forge.url).signIn('jane', PASSWORD)).status).toBe(303)
  const identities = [{ provider: 'ldapmain', extern_uid: JANE }]
  expect(await tryIn(forge, 'jd')).toMatchObject({ status: 201, body: { id: local.id, identities } })
  expect((await tryIn(forge, 'jd', 'handed over')).status).toBe(401)

  // A move within the directory keeps the account.
  await server.add(`ou=guests,${BASE}`, { objectClass: 'organizationalUnit', ou: 'guests' })
  const moved = `uid=jane,ou=guests,${BASE}`
  await server.move(JANE, moved)
  expect(await tryIn(forge, 'jane')).toMatchObject({
    status: 201,
    body: { id: local.id, identities: [{ provider: 'ldapmain', extern_uid: moved }] },
  })
})

test('an account that may be somebody else’s is not handed over, and nothing is made instead', async () => {
  await using server = await startDirectory()
  await using forge = await startWith(server)
  const owner = await server.person({ uid: 'owner', password: PASSWORD, mail: 'owned@example.org' })
  await forge.user({ username: 'boss', email: 'boss@example.org', admin: true })
  await forge.user({ username: 'prepared', email: 'prepared@example.org', skip_confirmation: false })
  await forge.user({ username: 'owned', email: 'owned@example.org', provider: 'ldapmain', extern_uid: owner })
  const john = await forge.user({ username: 'john' })
  await forge.administrator.post(`/users/${john.id}/emails`, { email: 'second@example.org', skip_confirmation: true })
  await forge.settle()
  const events = await forge.events()
  const taken = 'Your email address belongs to another account. Ask an administrator to link it.'

  const table: [string, string | null, string][] = [
    ['m1', 'boss@example.org', taken],
    ['m2', 'prepared@example.org', taken],
    ['m3', 'owned@example.org', taken],
    ['m4', 'second@example.org', 'Your account could not be created. Contact an administrator.'],
    ['m5', 'no address', 'Your account could not be created. Contact an administrator.'],
    ['m6', null, 'Your LDAP entry has no email address.'],
  ]
  for (const [uid, mail, fault] of table) {
    await server.person({ uid, password: PASSWORD, mail })
    forge.clock.advance(61_000)
    expect(await tryIn(forge, uid)).toMatchObject({ status: 401, body: { message: `401 Unauthorized. ${fault}` } })
    const page = await new Browser(forge.url).signIn(uid, PASSWORD)
    expect([page.status, page.body.includes(fault)]).toEqual([401, true])
    expect(await tryIn(forge, uid, 'wrong horse')).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } })
  }
  expect(await forge.events()).toEqual(events)
  expect(await tryIn(forge, 'owner')).toMatchObject({ status: 201, body: { username: 'owned' } })
})

test('whom synchronisation blocked comes back with the directory, whom an administrator blocked does not', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startWith(server)
  const { id } = (await tryIn(forge, 'jane')).body
  await setUser(forge, id, { state: 'ldap_blocked' })
  expect((await tryIn(forge, 'jane', 'wrong horse')).status).toBe(401)
  expect((await userRow(forge, 'jane')).state).toBe('ldap_blocked')
  expect(await tryIn(forge, 'jane')).toMatchObject({ status: 201, body: { state: 'active' } })
  expect((await forge.events()).slice(1)).toEqual(['user.unblocked'])

  await forge.administrator.post(`/users/${id}/block`)
  expect((await tryIn(forge, 'jane')).status).toBe(401)
  expect((await new Browser(forge.url).signIn('jane', PASSWORD)).body).toContain('Your account has been blocked.')
  await forge.administrator.post(`/users/${id}/unblock`)
  await setUser(forge, id, { two_factor_enabled: true })
  expect((await tryIn(forge, 'jane')).body.message).toContain('You have 2FA enabled')
})

test('while the directory is away its people are told so, and come in when it is back', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startWith(server)
  await forge.user({ username: 'john', password: OWN })
  expect((await tryIn(forge, 'jane')).status).toBe(201)
  await server.stop()
  expect(await tryIn(forge, 'jane')).toMatchObject({
    status: 401,
    body: { message: '401 Unauthorized. The LDAP server cannot be reached. Try again later.' },
  })
  expect((await tryIn(forge, 'john', OWN)).status).toBe(201)
  await server.start()
  expect((await tryIn(forge, 'jane')).status).toBe(201)
})
