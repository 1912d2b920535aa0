import { expect, test } from 'vitest'
import { whileRejected } from '../../../../test/at-once.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const tryIn = (forge: TestForge, login: string, password: string) => forge.visitor.post('/session', { login, password })

test('a password is exchanged for the account record and its private token, without a cookie', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'Jane', password: PASSWORD })

  const answer = await tryIn(forge, 'jane', PASSWORD)

  const own = await jane.get('/user')
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({ ...own.body, is_admin: false, private_token: jane.token })
  expect(answer.headers.getSetCookie()).toEqual([])
  for (const input of [{ email: 'jane@example.com' }, { login: 'JANE@example.com' }, { email: 'JANE' }]) {
    const same = await forge.visitor.post('/session', { ...input, password: PASSWORD })
    expect(same).toMatchObject({ status: 201, body: { id: jane.id } })
  }
})

test('everybody may try, and whatever other credential is shown changes nothing', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const callers = [forge.visitor, await forge.user(), await forge.user({ external: true }), forge.administrator, jane]
  for (const caller of callers) {
    const answer = await caller.post('/session', { login: 'jane', password: PASSWORD })
    expect(answer).toMatchObject({ status: 201, body: { username: 'jane' } })
  }
})

test('refusals tell no more than they must', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  await forge.user({ username: 'blocked', password: PASSWORD, blocked: true })
  const factor = await forge.user({ username: 'factor', password: PASSWORD })
  await forge.user({ username: 'outsider' })
  await forge.app.db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', factor.id).execute()
  const unauthorized = { message: '401 Unauthorized' }
  const both = (text: string) => ({ message: text, error: text })

  const table: [object, number, unknown][] = [
    [{ login: 'jane', password: 'wrong horse' }, 401, unauthorized],
    [{ login: 'nobody', password: PASSWORD }, 401, unauthorized],
    [{ login: 'blocked', password: PASSWORD }, 401, unauthorized],
    [{ login: 'outsider', password: '' }, 401, unauthorized],
    [{ login: 'jane', password: `${PASSWORD}${'x'.repeat(200)}` }, 401, unauthorized],
    [
      { login: 'factor', password: PASSWORD },
      401,
      { message: '401 Unauthorized. You have 2FA enabled. Please use a personal access token to access the API' },
    ],
    [{ login: 'jane' }, 400, { message: '400 (Bad request) password not given', error: 'password is missing' }],
    [{ password: PASSWORD }, 400, both('login, email are missing, at least one parameter must be provided')],
    [{ login: ['jane'], password: PASSWORD }, 400, both('login is invalid')],
  ]
  const events = await forge.events()
  for (const [input, status, body] of table) {
    expect(await forge.visitor.post('/session', input as Record<string, unknown>)).toMatchObject({ status, body })
  }
  // Emitted for the caller who knew the password.
  expect(await forge.events()).toEqual([...events, 'user.sign_in_refused'])
})

test('a refused sign-in is stored with its message to system hooks', async () => {
  await using forge = await startForge()
  await using receiver = await forge.receiver()
  await forge.user({ username: 'blocked', password: PASSWORD, blocked: true })
  await forge.administrator.post('/hooks', { url: receiver.url })
  const events = await forge.events()
  await whileRejected(forge, 'insert on event_messages', `new.kind = 'user_failed_login'`, async () => {
    expect((await tryIn(forge, 'blocked', PASSWORD)).status).toBe(500)
  })
  expect(await forge.events()).toEqual(events)
  expect((await tryIn(forge, 'blocked', PASSWORD)).status).toBe(401)
  expect((await receiver.next('user_failed_login')).body).toMatchObject({ username: 'blocked', state: 'blocked' })
})

test('the ghost does not sign in, whatever its password', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const jane = await forge.user({ password: PASSWORD })
  const leaver = await forge.user()
  await forge.administrator.delete(`/users/${leaver.id}`)
  const { password_digest } = await db
    .selectFrom('users')
    .select('password_digest')
    .where('id', '=', jane.id)
    .executeTakeFirstOrThrow()
  await db.updateTable('users').set({ password_digest }).where('ghost', '=', true).execute()

  expect((await tryIn(forge, jane.username, PASSWORD)).status).toBe(201)
  expect((await tryIn(forge, 'ghost', PASSWORD)).status).toBe(401)
})

test('an unconfirmed account and an expired password open the API all the same', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD, skip_confirmation: false })
  await forge.administrator.put(`/users/${jane.id}`, { password: 'handed over' })
  expect((await tryIn(forge, 'jane', 'handed over')).status).toBe(201)
})

test('ten failures close the account to that network for ten minutes, its tokens go on working', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  for (let n = 0; n < 9; n++) expect((await tryIn(forge, 'jane', 'wrong horse')).status).toBe(401)
  forge.clock.advance(61_000)
  expect((await tryIn(forge, 'jane', 'wrong horse')).status).toBe(401)

  expect(await tryIn(forge, 'jane', PASSWORD)).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } })
  expect((await jane.get('/user')).status).toBe(200)
  forge.clock.advance(9 * 60_000)
  expect((await tryIn(forge, 'jane', PASSWORD)).status).toBe(401)
  forge.clock.advance(61_000)
  expect((await tryIn(forge, 'jane', 'wrong horse')).status).toBe(401)
  expect((await tryIn(forge, 'jane', PASSWORD)).status).toBe(201)
})

test('a success starts the count of failures anew', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 9; n++) expect((await tryIn(forge, 'jane', 'wrong horse')).status).toBe(401)
    expect((await tryIn(forge, 'jane', PASSWORD)).status).toBe(201)
    forge.clock.advance(61_000)
  }
})

test('ten failures a minute stop an address, successes do not count', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane', password: PASSWORD })
  for (let n = 0; n < 11; n++) expect((await tryIn(forge, 'jane', PASSWORD)).status).toBe(201)
  const tries = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      forge.visitor.post(
        '/session',
        { login: `nobody${n}`, password: PASSWORD },
        // Anyone can send this header; only a listed proxy is trusted.
        { 'X-Forwarded-For': `10.0.0.${n}` },
      ),
    ),
  )
  expect(tries.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([
    ...Array.from({ length: 10 }, () => 401),
    ...Array.from({ length: 2 }, () => 429),
  ])

  const stopped = await tryIn(forge, 'jane', PASSWORD)
  expect(stopped).toMatchObject({
    status: 429,
    body: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
  })
  expect(stopped.headers.get('retry-after')).toBe('60')
  forge.clock.advance(61_000)
  expect((await tryIn(forge, 'jane', PASSWORD)).status).toBe(201)
})
