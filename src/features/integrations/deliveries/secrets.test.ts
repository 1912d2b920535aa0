import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('credentials of a hook are in no log, whether it is reached, fails, is refused or sent on', async () => {
  const lines: string[] = []
  await using forge = await startForge({
    settings: { LOG: 'trace' },
    logTo: { write: (line) => void lines.push(line) },
  })
  const before = lines.length
  await forge.administrator.put('/application/settings', {
    allow_local_requests_from_web_hooks_and_services: false,
    outbound_local_requests_whitelist: ['127.0.0.1'],
  })
  const seen: Record<string, string | undefined> = {}
  const server = createServer(({ url, headers, socket }, response) => {
    seen[url!] = headers.authorization
    if (url === '/drop') return socket.destroy()
    if (url === '/away') response.writeHead(307, { location: 'http://127.0.0.2/' })
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  for (const path of ['/ok', '/drop', '/away'])
    await owner.post(`/projects/${project.id}/hooks`, {
      url: `http://me:s3cret@127.0.0.1:${port}${path}`,
      token: 's3cret',
      issues_events: true,
    })
  await forge.issue(project, {}, owner)
  await forge.settle()
  server.close()

  const basic = `Basic ${Buffer.from('me:s3cret').toString('base64')}`
  expect(seen).toEqual({ '/ok': basic, '/drop': basic, '/away': basic })
  const errors = await forge.app.db.selectFrom('hook_attempts').select('error').orderBy('hook_id').execute()
  expect(errors.map(({ error }) => error)).toEqual([
    null,
    'The connection was closed',
    'Requests to loopback addresses are not allowed',
  ])
  expect(lines.length).toBeGreaterThan(before)
  expect(lines.filter((line) => /s3cret|bWU6czNjcmV0/.test(line))).toEqual([])
})
