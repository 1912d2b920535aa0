import { expect, test } from 'vitest'
import { startForge, type Client } from '../../forge.ts'

/** Statuses of a call by: a visitor, a user, an external user, a blocked user, an administrator. */
const calls: [method: string, path: string, input: Record<string, unknown> | undefined, statuses: number[]][] = [
  ['GET', '/version', undefined, [401, 200, 200, 401, 200]],
  ['GET', '/metadata', undefined, [401, 200, 200, 401, 200]],
  ['GET', '/application/settings', undefined, [401, 403, 403, 401, 200]],
  // The right is checked before the parameters: only an administrator learns that one is missing.
  ['PUT', '/application/settings', {}, [401, 403, 403, 401, 400]],
  ['PUT', '/application/settings', { html_emails_enabled: true }, [401, 403, 403, 401, 200]],
  ['GET', '/features', undefined, [401, 403, 403, 401, 200]],
  ['POST', '/features/a', {}, [401, 403, 403, 401, 400]],
  ['POST', '/features/a', { value: 'true' }, [401, 403, 403, 401, 201]],
  ['DELETE', '/features/none', undefined, [401, 403, 403, 401, 204]],
  ['GET', '/broadcast_messages', undefined, [200, 200, 200, 401, 200]],
  ['GET', '/broadcast_messages/9', undefined, [404, 404, 404, 401, 404]],
  ['POST', '/broadcast_messages', {}, [401, 403, 403, 401, 400]],
  ['POST', '/broadcast_messages', { message: 'hello' }, [401, 403, 403, 401, 201]],
  ['PUT', '/broadcast_messages/9', { color: 'red' }, [401, 403, 403, 401, 404]],
  ['DELETE', '/broadcast_messages/9', undefined, [401, 403, 403, 401, 404]],
  ['GET', '/sidekiq/queue_metrics', undefined, [401, 403, 403, 401, 200]],
  ['GET', '/sidekiq/process_metrics', undefined, [401, 403, 403, 401, 200]],
  ['GET', '/sidekiq/job_stats', undefined, [401, 403, 403, 401, 200]],
  ['GET', '/sidekiq/compound_metrics', undefined, [401, 403, 403, 401, 200]],
]

const REFUSALS: Record<number, string> = { 401: '401 Unauthorized', 403: '403 Forbidden', 404: '404 Not found' }

test('who reaches what of the instance', async () => {
  await using forge = await startForge()
  const callers: Client[] = [
    forge.visitor,
    await forge.user(),
    await forge.user({ external: true }),
    await forge.user({ blocked: true }),
    forge.administrator,
  ]
  for (const [method, path, input, expected] of calls) {
    const answers = []
    for (const caller of callers) answers.push(await caller.request(method, path, input))
    const statuses = answers.map((answer) => answer.status)
    expect([method, path, ...statuses]).toEqual([method, path, ...expected])
    const refused = answers.filter(({ status }) => status in REFUSALS)
    expect(refused.map(({ body }) => body)).toEqual(refused.map(({ status }) => ({ message: REFUSALS[status] })))
  }
})
