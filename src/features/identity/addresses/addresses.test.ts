import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { purgeAddresses } from './jobs.ts'

const PASSWORD = 'correct-horse-battery'
const SENTENCE =
  'Your account is in use from too many IP addresses. Try again later, or use one of the other addresses.'
const REFUSED = { message: `403 Forbidden - ${SENTENCE}` }

async function start(limit: number | null): Promise<TestForge> {
  const forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })
  if (limit !== null) await limitTo(forge, limit)
  return forge
}

const limitTo = (forge: TestForge, limit: number) =>
  forge.administrator.put('/application/settings', {
    unique_ips_limit_enabled: true,
    unique_ips_limit_per_user: limit,
    unique_ips_limit_time_window: 3600,
  })

const at = (address: string) => ({ 'X-Forwarded-For': address })
const from = (forge: TestForge, { token }: Person, address: string) =>
  forge.as({ 'PRIVATE-TOKEN': token, ...at(address) }).get('/user')
const statusFrom = async (forge: TestForge, person: Person, address: string) =>
  (await from(forge, person, address)).status

const kept = async ({ app }: TestForge, { id }: Person) =>
  (
    await app.db
      .selectFrom('user_addresses')
      .select(['address', 'seen_at'])
      .where('user_id', '=', id)
      .orderBy('address')
      .execute()
  ).map(({ address, seen_at }) => [address, seen_at])
const places = async (forge: TestForge, person: Person) => (await kept(forge, person)).map(([address]) => address)

test('a further address is refused until an older one falls out of the window', async () => {
  await using forge = await start(2)
  const [jane, joe] = [await forge.user(), await forge.user()]
  await forge.app.db.deleteFrom('user_addresses').execute()
  expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(200)
  forge.clock.advance(30 * MINUTE)
  expect(await statusFrom(forge, jane, '203.0.113.2')).toBe(200)

  const before = await kept(forge, jane)
  const refused = await from(forge, jane, '203.0.113.3')
  expect([refused.status, refused.body]).toEqual([403, REFUSED])
  expect(await kept(forge, jane)).toEqual(before)
  // Other users, and the addresses that came first, stay allowed.
  expect(await statusFrom(forge, joe, '203.0.113.3')).toBe(200)
  expect(await statusFrom(forge, jane, '203.0.113.2')).toBe(200)

  forge.clock.advance(30 * MINUTE)
  expect(await statusFrom(forge, jane, '203.0.113.3')).toBe(200)
  expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(403)
  expect(await places(forge, jane)).toEqual(['203.0.113.2', '203.0.113.3'])
})

test('of many new addresses at once no more come in than may', async () => {
  await using forge = await start(3)
  const jane = await forge.user()
  await forge.app.db.deleteFrom('user_addresses').execute()
  const all = Array.from({ length: 12 }, (_, n) => `203.0.113.${n + 1}`)
  const statuses = await Promise.all(all.map((address) => statusFrom(forge, jane, address)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  expect(await places(forge, jane)).toHaveLength(3)
  const again = await Promise.all(all.map((address) => statusFrom(forge, jane, address)))
  expect(again).toEqual(statuses)
})

test('it is written down every five minutes at most, and not at all while switched off', async () => {
  await using forge = await start(null)
  const jane = await forge.user()
  expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(200)
  expect(await kept(forge, jane)).toEqual([])
  const off = await forge.queries(() => from(forge, jane, '203.0.113.1'))

  await limitTo(forge, 1)
  expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(200)
  const [first] = await kept(forge, jane)
  forge.clock.advance(4 * MINUTE)
  await statusFrom(forge, jane, '203.0.113.1')
  expect(await kept(forge, jane)).toEqual([first])
  // One query more than without the limit.
  expect(await forge.queries(() => from(forge, jane, '203.0.113.1'))).toBeLessThanOrEqual(off + 1)
  forge.clock.advance(MINUTE)
  await statusFrom(forge, jane, '203.0.113.1')
  expect((await kept(forge, jane))[0]![1]! > first![1]!).toBe(true)
  // An address that keeps being seen stays known, however long.
  for (let n = 0; n < 5; n++) {
    forge.clock.advance(HOUR / 2)
    expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(200)
    expect(await statusFrom(forge, jane, '203.0.113.2')).toBe(403)
  }
})

test('under a lower limit those who came first stay', async () => {
  await using forge = await start(3)
  const jane = await forge.user()
  await forge.app.db.deleteFrom('user_addresses').execute()
  for (const n of [3, 2, 1]) {
    expect(await statusFrom(forge, jane, `203.0.113.${n}`)).toBe(200)
    forge.clock.advance(1000)
  }
  await limitTo(forge, 1)
  const statuses = await Promise.all([3, 2, 1].map((n) => statusFrom(forge, jane, `203.0.113.${n}`)))
  expect(statuses).toEqual([200, 403, 403])
})

test('addresses of one IPv6 network are one', async () => {
  await using forge = await start(1)
  const jane = await forge.user()
  await forge.app.db.deleteFrom('user_addresses').execute()
  for (const end of ['1', 'abcd', 'ffff:1']) expect(await statusFrom(forge, jane, `2001:db8:1:2::${end}`)).toBe(200)
  expect(await statusFrom(forge, jane, '2001:db8:1:3::1')).toBe(403)
})

test('pages, signing in, git and feeds are closed from a further address', async () => {
  await using forge = await start(null)
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  const { path_with_namespace: path } = await forge.project({}, jane)
  const feed = (await jane.post('/user/feed_token/rotate')).body.feed_token
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  await limitTo(forge, 1)
  expect(await statusFrom(forge, jane, '203.0.113.1')).toBe(200)
  const elsewhere = { ...at('203.0.113.2'), Accept: 'text/html' }

  const page = await browser.get('/-/profile', elsewhere)
  expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  expect(page.body).toContain(SENTENCE)
  expect(page.body).not.toContain('jane')
  const own = await browser.get('/-/profile', { ...at('203.0.113.1'), Accept: 'text/html' })
  expect(own.status).toBe(200)

  const sessions = () => forge.app.db.selectFrom('sessions').selectAll().execute()
  const before = await sessions()
  const stranger = new Browser(forge.url)
  const form = await stranger.get('/users/sign_in', elsewhere)
  const fields = { authenticity_token: csrfOf(form.body), 'user[login]': 'jane', 'user[password]': PASSWORD }
  const refused = await stranger.post('/users/sign_in', fields, elsewhere)
  expect([refused.status, refused.body.includes(SENTENCE)]).toEqual([401, true])
  expect(await sessions()).toEqual(before)

  const basic = (secret: string) => `Basic ${Buffer.from(`jane:${secret}`).toString('base64')}`
  for (const secret of [jane.token, PASSWORD]) {
    const fetched = (address: string) =>
      fetch(`${forge.url}/${path}.git/info/refs?service=git-upload-pack`, {
        headers: { Authorization: basic(secret), ...at(address) },
      })
    expect((await fetched('203.0.113.1')).status).toBe(200)
    const closed = await fetched('203.0.113.2')
    expect([closed.status, (await closed.text()).includes(SENTENCE)]).toEqual([403, true])
  }
  const atom = (address: string) =>
    fetch(`${forge.url}/dashboard/projects.atom?feed_token=${feed}`, { headers: at(address) })
  expect([(await atom('203.0.113.1')).status, (await atom('203.0.113.2')).status]).toEqual([200, 403])
  // A rejected user can still sign out.
  const out = await browser.post('/users/sign_out', { authenticity_token: csrfOf(own.body) }, elsewhere)
  expect(out.status).toBe(303)
  expect(await sessions()).toEqual([])
})

const csrfOf = (body: string) => /name="authenticity_token" value="([^"]*)"/.exec(body)?.[1] ?? ''

test('what counts no more is swept, all of it once the limit is off', async () => {
  await using forge = await start(2)
  const jane = await forge.user()
  await forge.app.db.deleteFrom('user_addresses').execute()
  await statusFrom(forge, jane, '203.0.113.1')
  forge.clock.advance(HOUR)
  await statusFrom(forge, await forge.user(), '203.0.113.2')
  await purgeAddresses.handle(forge.app, {})
  expect(await places(forge, jane)).toEqual([])
  const left = () => forge.app.db.selectFrom('user_addresses').selectAll().execute()
  expect((await left()).length).toBeGreaterThan(0)
  await forge.administrator.put('/application/settings', { unique_ips_limit_enabled: false })
  await purgeAddresses.handle(forge.app, {})
  expect(await left()).toEqual([])
})
