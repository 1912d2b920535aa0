import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { authentication } from '../features/identity/authentication.ts'
import { startForge } from '../forge.ts'
import { Answer, endpoint } from './endpoint.ts'
import { RateLimiter } from './limits.ts'
import { apiListener } from './router.ts'

test('a header of any bytes is sent as it is, whatever body goes out with it', async () => {
  await using forge = await startForge()
  const name = Buffer.from('grün').toString('latin1')
  const named = (method: 'GET' | 'POST') =>
    endpoint({
      method,
      path: '/named',
      summary: 'Say a name',
      allow: 'anyone',
      output: z.unknown(),
      handle: async () => new Answer(method === 'GET' ? 200 : 201, { name: 'grün' }, { 'X-Name': name }),
    })
  const door = {
    app: forge.app,
    authentication,
    limiter: new RateLimiter(0, forge.clock),
    spool: '',
    checkOutput: true,
  }
  const listener = apiListener(
    door,
    [named('GET'), named('POST')],
    () => '127.0.0.1',
    () => {},
  )
  const server = createServer(listener).listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4/named`
    for (const method of ['GET', 'POST', 'HEAD']) {
      const answer = await fetch(url, { method })
      expect([answer.headers.get('x-name'), answer.headers.get('content-length')], method).toEqual([name, '16'])
      expect(await answer.text(), method).toBe(method === 'HEAD' ? '' : '{"name":"grün"}')
    }
  } finally {
    server.close()
  }
})
