import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startForge, type TestForge } from '../forge.ts'
import type { Receiver } from './types.ts'

let forge: TestForge
let receiver: Receiver

beforeAll(async () => {
  forge = await startForge()
  receiver = await forge.receiver()
})
beforeEach(() => receiver.clear())
afterAll(() => forge.close())

const deliver = (body: unknown, headers: Record<string, string> = {}, path = 'hook?a=1') =>
  fetch(receiver.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('deliveries are handed out by kind, once each, and waited for', async () => {
  await deliver({ object_kind: 'push', ref: 'refs/heads/master' }, { 'X-Gitlab-Event': 'Push Hook' })
  await deliver({ object_kind: 'issue', event_type: 'confidential_issue' })
  await deliver({ event_name: 'user_create' })
  await deliver('no JSON')
  expect(await receiver.next('confidential_issue')).toMatchObject({ kind: 'issue' })
  expect(await receiver.next('Push Hook')).toMatchObject({
    kind: 'push',
    event: 'Push Hook',
    method: 'POST',
    path: '/hook?a=1',
    headers: { 'content-type': 'application/json', 'x-gitlab-event': 'Push Hook' },
    body: { ref: 'refs/heads/master' },
  })
  expect(await receiver.next('user_create')).toMatchObject({ kind: 'user_create' })
  expect(await receiver.next()).toMatchObject({ kind: 'other', body: 'no JSON' })
  expect(receiver.deliveries.map(({ kind }) => kind)).toEqual(['push', 'issue', 'user_create', 'other'])
  const [first, second] = [receiver.next('note'), receiver.next('note')]
  await deliver({ object_kind: 'note', n: 1 })
  await deliver({ object_kind: 'note', n: 2 })
  expect([(await first).body.n, (await second).body.n].toSorted((a, b) => a - b)).toEqual([1, 2])
})

test('what does not come is told with what came instead', async () => {
  await expect(receiver.next('issue', { timeout: 20 })).rejects.toThrow(
    `no delivery of kind issue came to ${receiver.url} within 20 ms; nothing came at all`,
  )
  await deliver({ object_kind: 'push' })
  await receiver.next()
  await deliver({ object_kind: 'note' })
  await expect(receiver.next('issue', { timeout: 20 })).rejects.toThrow('what came: push (taken), note')
})

test('it fails, hangs and answers slowly as it is told, for so long as it is told', async () => {
  receiver.answer({ status: 503, headers: { 'Retry-After': '7' }, text: 'later', times: 1 })
  const refused = await deliver({ object_kind: 'push' })
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([503, '7', 'later'])
  expect((await deliver({ object_kind: 'push' })).status).toBe(200)
  receiver.answer({ delay: 100 })
  const before = performance.now()
  expect((await deliver({ object_kind: 'push' })).status).toBe(200)
  expect(performance.now() - before).toBeGreaterThan(90)
  const other = await forge.receiver()
  other.answer({ hang: true })
  const hanging = fetch(other.url, { method: 'POST', body: '{}' })
  expect(await other.next()).toMatchObject({ body: {} })
  const waiting = other.next()
  const ends = Promise.allSettled([hanging, waiting])
  await other.close()
  expect(await ends).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected', reason: { message: `the receiver ${other.url} is closed; what came: other (taken)` } },
  ])
})

test('mails are listed once they are sent, and forgotten with everything else', async () => {
  await forge.user({ username: 'jane', reset_password: true })
  expect(await forge.mail()).toMatchObject([
    { to: 'jane@example.com', subject: expect.any(String), text: expect.stringContaining('http'), headers: {} },
  ])
  await deliver({ object_kind: 'push' })
  await forge.reset()
  expect([await forge.mail(), receiver.deliveries]).toEqual([[], []])
  const { body } = await forge.administrator.get('/application/settings')
  expect(body.allow_local_requests_from_web_hooks_and_services).toBe(true)
})
