/** Deliveries to a third-party receiver: the webhook handler that build servers on Node use. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startForge } from '../../src/forge.ts'

interface Payload {
  event: string
  payload: Record<string, unknown>
}

type Handler = ((request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void) & {
  on(event: string, hear: (event: Payload) => void): void
}

const createHandler = createRequire(import.meta.url)('node-gitlab-webhook') as (options: {
  path: string
  secret: string
}) => Handler

const KINDS = ['push', 'tag_push', 'issue', 'note', 'merge_request', 'wiki_page', 'pipeline', 'build', 'release']

test('a published handler checks the token and tells each kind from the others', async () => {
  const handler = createHandler({ path: '/hook', secret: 'open sesame' })
  const received: Payload[] = []
  const refused: unknown[] = []
  for (const kind of KINDS) handler.on(kind, (told) => received.push(told))
  handler.on('error', (error) => refused.push(error))
  const server = createServer((request, response) =>
    handler(request, response, () => response.headersSent || response.writeHead(404).end()),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`

  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  const kinds = ['push', 'tag_push', 'issues', 'note', 'merge_requests', 'wiki_page', 'pipeline', 'job', 'releases']
  const all = Object.fromEntries(kinds.map((kind) => [`${kind}_events`, true]))
  const wrong = await jane.post(`${at}/hooks`, { url, token: 'another', issues_events: true, push_events: false })
  expect(wrong.status).toBe(201)
  await jane.post(`${at}/issues`, { title: 'Unheard' })
  await forge.settle()
  await expect.poll(() => refused.length).toBe(1)
  expect(received).toEqual([])
  await jane.delete(`${at}/hooks/${wrong.body.id}`)

  expect((await jane.post(`${at}/hooks`, { url, token: 'open sesame', ...all })).status).toBe(201)
  await forge.seed(project, { '.gitlab-ci.yml': 'job: { script: [make] }\n' }, { as: jane })
  const issue = await forge.issue(project, { title: 'The mill jams' }, jane)
  await forge.note(issue, { body: 'It does' }, jane)
  await forge.mergeRequest(project, { source_branch: 'feature', title: 'Oil it' }, jane)
  await jane.post(`${at}/wikis`, { title: 'Home', content: 'Welcome' })
  await jane.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  await jane.post(`${at}/releases`, { tag_name: 'v1', name: 'One' })
  await forge.settle()
  await expect.poll(() => new Set(received.map(({ event }) => event))).toEqual(new Set(KINDS))
  const payloadOf = (kind: string) => received.find(({ event }) => event === kind)!.payload
  expect(payloadOf('issue')).toMatchObject({ object_attributes: { title: 'The mill jams', action: 'open' } })
  expect(payloadOf('push')).toMatchObject({ ref: 'refs/heads/master', project: { id: project.id } })
  expect(refused).toHaveLength(1)
  server.close()
})
