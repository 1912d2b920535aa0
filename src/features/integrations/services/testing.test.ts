import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('a service is tested with the last commits, and its failure told', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  const { owner, url, id } = await openSource(forge, 'projects')
  const commit = await forge.seed({ id }, { 'a.txt': 'a' })
  const bodies: string[] = []
  let status = 200
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${body}`)
      response.writeHead(status).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const ask = (slug: string) => owner.post(`${url}/integrations/${slug}/test`)
  const refused = (message: string) => expect.objectContaining({ status: 422, body: { message } }) as unknown

  await owner.put(`${url}/integrations/drone-ci`, { drone_url: base, token: 't', push_events: false })
  expect(await ask('drone-ci')).toMatchObject({ status: 201, body: { message: '201 Created' } })
  expect(bodies).toEqual([expect.stringContaining(commit.id)])
  await owner.put(`${url}/integrations/jira`, { url: base })
  expect((await ask('jira')).status).toBe(201)
  expect(bodies[1]).toBe('GET /rest/api/2/serverInfo ')

  status = 404
  expect(await ask('drone-ci')).toEqual(refused('The receiver answered 404'))
  status = 503
  expect(await ask('drone-ci')).toEqual(refused('The receiver answered 503'))
  receiver.close()
  receiver.closeAllConnections()
  expect(await ask('drone-ci')).toMatchObject({ status: 422, body: { message: expect.any(String) } })
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: false })
  expect(await ask('drone-ci')).toEqual(refused('Requests to localhost are not allowed'))

  expect(await ask('drone-ci')).toMatchObject({
    status: 429,
    body: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
  })
  forge.clock.advance(MINUTE + 1)
  expect((await ask('drone-ci')).status).toBe(422)
  await owner.put(`${url}/integrations/campfire`, { token: 't' })
  expect(await ask('campfire')).toEqual(refused('The hosted chat it spoke to was retired'))
  await owner.put(`${url}/integrations/external-wiki`, { external_wiki_url: 'https://wiki.example.com' })
  expect(await ask('external-wiki')).toEqual(refused('This service is sent nothing.'))
  expect(await ask('slack')).toMatchObject({ status: 404, body: { message: '404 Integration Not Found' } })
  expect(bodies).toHaveLength(4)
})
