import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { timestamp } from '../clock.ts'
import { authentication } from '../features/identity/authentication.ts'
import { startForge, type TestForge } from '../forge.ts'
import { Answer, endpoint, type Endpoint } from './endpoint.ts'
import { RateLimiter } from './limits.ts'
import { apiListener } from './router.ts'

/** An API with only these endpoints. */
async function serve({ app, clock }: TestForge, ...endpoints: Endpoint[]) {
  const gateway = { app, authentication, limiter: new RateLimiter(0, clock), spool: '', checkOutput: true }
  const listener = apiListener(
    gateway,
    endpoints,
    () => '127.0.0.1',
    () => {},
  )
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
    [Symbol.dispose]: () => void server.close(),
  }
}

test('a header of any bytes is sent as it is, whatever body goes out with it', async () => {
  await using forge = await startForge()
  const name = Buffer.from('grün').toString('latin1')
  const named = (method: 'GET' | 'POST') =>
    endpoint({
      method,
      path: '/named',
      summary: 'Say a name',
      by: 'visitor',
      allow: 'anyone',
      output: z.unknown(),
      handle: async () => new Answer(method === 'GET' ? 200 : 201, { name: 'grün' }, { 'X-Name': name }),
    })
  using api = await serve(forge, named('GET'), named('POST'))
  for (const method of ['GET', 'POST', 'HEAD']) {
    const answer = await fetch(`${api.url}/named`, { method })
    expect([answer.headers.get('x-name'), answer.headers.get('content-length')], method).toEqual([name, '16'])
    expect(await answer.text(), method).toBe(method === 'HEAD' ? '' : '{"name":"grün"}')
  }
})

test('an answer that fails halfway is cut, and logged; one that its reader leaves is not', async () => {
  await using forge = await startForge()
  const logged: unknown[] = []
  const log = { error: (fields: { err: Error }) => void logged.push(fields.err.message) }
  const streaming = (path: `/${string}`, body: () => Readable) =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Stream',
      by: 'visitor',
      allow: 'anyone',
      output: z.unknown(),
      handle: async () => new Answer(200, body(), {}),
    })
  async function* broken() {
    yield 'half'
    await sleep(20)
    throw new Error('the disk broke')
  }
  async function* endless() {
    for (;;) {
      yield 'more'
      await sleep(5)
    }
  }
  using api = await serve(
    { clock: forge.clock, app: { ...forge.app, log } } as unknown as TestForge,
    streaming('/broken', () => Readable.from(broken())),
    streaming('/endless', () => Readable.from(endless())),
  )
  const left = await fetch(`${api.url}/endless`)
  await left.body!.cancel()
  await expect(fetch(`${api.url}/broken`).then((answer) => answer.text())).rejects.toThrow('terminated')
  await expect.poll(() => logged).toEqual(['the disk broke'])
})

test('an answer reports whether all of it was sent', async () => {
  await using forge = await startForge()
  const ends: boolean[] = []
  const met = Promise.withResolvers<void>()
  const answering = (path: `/${string}`, answer: (request: IncomingMessage) => Promise<unknown>) =>
    endpoint({
      method: 'POST',
      path,
      summary: 'Answer',
      by: 'visitor',
      allow: 'anyone',
      output: z.unknown(),
      handle: async ({ request }) => new Answer(201, await answer(request), {}, (isSent) => void ends.push(isSent)),
    })
  using api = await serve(
    { clock: forge.clock, app: { ...forge.app, log: { error: () => {} } } } as unknown as TestForge,
    answering('/whole', async () => ({ name: 'whole' })),
    // A value that cannot be serialized is answered with an error.
    answering('/unwritten', async () => ({ count: 1n })),
    answering('/left', async ({ socket }) => {
      met.resolve()
      return once(socket, 'close')
    }),
  )
  expect((await fetch(`${api.url}/whole`, { method: 'POST' })).status).toBe(201)
  await expect.poll(() => ends).toEqual([true])
  expect((await fetch(`${api.url}/unwritten`, { method: 'POST' })).status).toBe(500)
  await expect.poll(() => ends).toEqual([true, false])
  const leaving = request(`${api.url}/left`, { method: 'POST' }).on('error', () => {})
  leaving.end()
  await met.promise
  leaving.destroy()
  await expect.poll(() => ends).toEqual([true, false, false])
})

test('a record below a parent that was deleted meanwhile is not found', async () => {
  await using forge = await startForge()
  const late = endpoint({
    method: 'POST',
    path: '/late',
    summary: 'Star a project that was there a moment ago',
    by: 'visitor',
    allow: 'anyone',
    output: z.unknown(),
    handle: ({ app: { db, clock } }) =>
      db
        .insertInto('stars')
        .values({ user_id: forge.administrator.id, project_id: 1, created_at: timestamp(clock) })
        .execute(),
  })
  using api = await serve(forge, late)
  const answer = await fetch(`${api.url}/late`, { method: 'POST' })
  expect([answer.status, await answer.json()]).toEqual([404, { message: '404 Not found' }])
})
