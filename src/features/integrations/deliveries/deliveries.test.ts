import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge
beforeAll(async () => {
  forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
})
afterAll(() => forge[Symbol.asyncDispose]())

/** Answers 200 to every request. */
async function receiver() {
  const got: { headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => {
        got.push({ headers: request.headers, body })
        response.end('ok')
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`
  return { url, got, [Symbol.dispose]: () => void server.close() }
}

test('an event reaches the hook and the service that want it, once', async () => {
  using hook = await receiver()
  using chat = await receiver()
  const owner = await forge.user()
  const { body: project } = await owner.post('/projects', { name: 'told' })
  const at = `/projects/${project.id}`
  await owner.post(`${at}/hooks`, { url: hook.url, issues_events: true, push_events: false, token: 'sesame' })
  await owner.put(`${at}/services/slack`, { webhook: chat.url })
  await owner.post(`${at}/issues`, { title: 'First' })
  await forge.settle()
  expect(hook.got).toHaveLength(1)
  expect(hook.got[0]!.headers).toMatchObject({ 'x-gitlab-event': 'Issue Hook', 'x-gitlab-token': 'sesame' })
  const body = JSON.parse(hook.got[0]!.body)
  expect(body).toMatchObject({ object_kind: 'issue', object_attributes: { title: 'First', action: 'open' } })
  expect(chat.got).toHaveLength(1)
  expect(chat.got[0]!.body).toContain('First')
})
