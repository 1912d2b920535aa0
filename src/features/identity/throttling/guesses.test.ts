import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { DAY, HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const OWNERS = '198.51.100.7'

/** The server trusts the proxy in front of it. */
const open = () => startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })

const tryFrom = async (forge: TestForge, address: string, password: string, login = 'jane') =>
  (await forge.visitor.post('/session', { login, password }, { 'X-Forwarded-For': address })).status

/** Sets the count as if there had been that many guesses; each real one costs as much as a sign-in. */
const seed = (forge: TestForge, like: string, count: number) =>
  forge.app.db.updateTable('throttles').set({ count }).where('key', 'like', like).execute()

test('wrong passwords from one network lock nobody out elsewhere, administrators neither', async () => {
  await using forge = await open()
  await forge.user({ username: 'jane', password: PASSWORD })
  await forge.user({ username: 'chief', password: PASSWORD, admin: true })
  for (const login of ['jane', 'chief']) {
    for (let n = 0; n < 10; n++) expect(await tryFrom(forge, '192.0.2.1', 'wrong horse', login)).toBe(401)
    forge.clock.advance(2 * MINUTE)
    expect(await tryFrom(forge, '192.0.2.1', PASSWORD, login)).toBe(401)
    expect(await tryFrom(forge, OWNERS, PASSWORD, login)).toBe(201)
    forge.clock.advance(MINUTE)
  }
})

test('networks of IPv6 count by their /64', async () => {
  await using forge = await open()
  await forge.user({ username: 'jane', password: PASSWORD })
  for (let n = 1; n <= 10; n++) await tryFrom(forge, `2001:db8:0:1::${n}`, 'wrong horse')
  forge.clock.advance(MINUTE)
  expect(await tryFrom(forge, '2001:db8:0:1::ffff', PASSWORD)).toBe(401)
  expect(await tryFrom(forge, '2001:db8:0:2::1', PASSWORD)).toBe(201)
})

test('each batch that failed is followed by a longer wait, up to eight hours', async () => {
  await using forge = await open()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const network = '192.0.2.1'
  const waits: [before: number, minutes: number][] = [
    [0, 10],
    [10, 20],
    [60, 480],
    [70, 480],
    [990, 480],
  ]
  for (const [before, minutes] of waits) {
    if (before > 0) await seed(forge, `password ${jane.id} % ${network}`, before + 9)
    for (let n = before === 0 ? 0 : 9; n < 10; n++) expect(await tryFrom(forge, network, 'wrong horse')).toBe(401)
    forge.clock.advance(minutes * MINUTE - 1000)
    expect(await tryFrom(forge, network, PASSWORD), `after ${before}`).toBe(401)
    forge.clock.advance(1000)
    expect(await tryFrom(forge, network, 'wrong horse')).toBe(401)
  }
  forge.clock.advance(MINUTE)
  expect(await tryFrom(forge, network, PASSWORD)).toBe(201)
})

test('in all there are a hundred before a wait; who signed in of late does not wait, nor a second factor', async () => {
  await using forge = await open()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  expect(await tryFrom(forge, OWNERS, PASSWORD)).toBe(201)
  forge.clock.advance(20 * DAY)
  expect(await tryFrom(forge, '192.0.2.1', 'wrong horse')).toBe(401)
  await seed(forge, `password ${jane.id} ________________`, 99)
  expect(await tryFrom(forge, '192.0.2.2', 'wrong horse')).toBe(401)

  const elsewhere = '203.0.113.9'
  expect(await tryFrom(forge, elsewhere, PASSWORD)).toBe(401)
  expect(await tryFrom(forge, OWNERS, PASSWORD)).toBe(201)
  expect((await jane.get('/user')).status).toBe(200)
  await forge.app.db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', jane.id).execute()
  const factor = await forge.visitor.post(
    '/session',
    { login: 'jane', password: PASSWORD },
    { 'X-Forwarded-For': elsewhere },
  )
  expect(factor.body.message).toContain('You have 2FA enabled')
  await forge.app.db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', jane.id).execute()
  forge.clock.advance(10 * MINUTE)
  expect(await tryFrom(forge, elsewhere, PASSWORD)).toBe(201)
})

test('a network is known for thirty days after a sign-in, no longer', async () => {
  await using forge = await open()
  await forge.stopWorker()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  for (const [days, answer] of [
    [30, 201],
    [31, 401],
  ] as const) {
    expect(await tryFrom(forge, OWNERS, PASSWORD)).toBe(201)
    forge.clock.advance(days * DAY - MINUTE)
    expect(await tryFrom(forge, '192.0.2.1', 'wrong horse')).toBe(401)
    await seed(forge, `password ${jane.id} ________________`, 99)
    expect(await tryFrom(forge, '192.0.2.2', 'wrong horse')).toBe(401)
    expect(await tryFrom(forge, OWNERS, PASSWORD), `after ${days} days`).toBe(answer)
    forge.clock.advance(10 * MINUTE)
  }
})

test('tries side by side do not slip through together', async () => {
  await using forge = await open()
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  await Promise.all(Array.from({ length: 30 }, () => tryFrom(forge, '192.0.2.1', 'wrong horse')))
  const rows = await forge.app.db.selectFrom('throttles').selectAll().execute()
  const counts = rows.filter(({ key }) => key.startsWith(`password ${jane.id} `)).map(({ count }) => count)
  expect(counts).toEqual([10, 10])
})

test('a living session goes on while an account is guessed', async () => {
  await using forge = await open()
  await forge.user({ username: 'jane', password: PASSWORD })
  const browser = new Browser(forge.url)
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
  for (let n = 0; n < 10; n++) await tryFrom(forge, '127.0.0.1', 'wrong horse')
  forge.clock.advance(2 * MINUTE)
  expect(await tryFrom(forge, '127.0.0.1', PASSWORD)).toBe(401)
  expect((await browser.get('/api/v4/user')).status).toBe(200)
  forge.clock.advance(HOUR)
  expect(await tryFrom(forge, '127.0.0.1', PASSWORD)).toBe(201)
})
