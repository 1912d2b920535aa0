import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'

/** The example of docs/testing.md. */
test('a bot’s whole round: what somebody does, the delivery it makes, what the bot does about it', async () => {
  await using forge = await startForge()
  const bot = await forge.user({ username: 'bot' })
  const project = await forge.project({ path: 'demo' })
  await forge.administrator.post(`/projects/${project.id}/members`, { user_id: bot.id, access_level: 30 })
  const receiver = await forge.receiver()
  await forge.administrator.post(`/projects/${project.id}/hooks`, {
    url: receiver.url,
    issues_events: true,
    token: 's3cret',
  })

  receiver.answer({ status: 503, times: 1 })
  await forge.issue(project, { title: 'Crash at start' })
  const first = await receiver.next('issue')
  await forge.settle()
  forge.clock.advance(60_000)
  const again = await receiver.next('issue')
  expect(again.headers['idempotency-key']).toBe(first.headers['idempotency-key'])
  expect(again.headers['idempotency-key']).toBeTruthy()
  expect(again.headers['x-gitlab-token']).toBe('s3cret')

  const { iid } = again.body.object_attributes
  const noted = await bot.post(`/projects/${project.id}/issues/${iid}/notes`, { body: 'Thank you, @root' })
  expect(noted.status).toBe(201)
  expect(receiver.deliveries).toHaveLength(2)
  await forge.settle()
  expect((await forge.mail()).map(({ to }) => to)).toContain(forge.administrator.email)
})
