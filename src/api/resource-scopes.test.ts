import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'

test('an archived project refuses changes at each of its scopes, but for what people and administrators note for themselves', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const owner = await forge.user()
  const { body } = await owner.post('/projects', { name: 'old' })
  const url = `/projects/${body.id}`
  await owner.post(`${url}/labels`, { name: 'bug', color: 'red' })
  await owner.post(`${url}/archive`)

  const hook = { url: 'https://example.com/hook' }
  const refused = [
    await owner.post(`${url}/hooks`, hook),
    await owner.put(`${url}/integrations/slack`, { webhook: hook.url }),
    await owner.post(`${url}/members`, { user_id: administrator.id, access_level: 30 }),
    await owner.post(`${url}/variables`, { key: 'KEY', value: 'x' }),
    await owner.post(`${url}/labels`, { name: 'other', color: 'red' }),
    await owner.post(`${url}/milestones`, { title: 'one' }),
  ]
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
  for (const list of ['hooks', 'integrations', 'variables', 'milestones']) {
    expect((await owner.get(`${url}/${list}`)).body).toEqual([])
  }
  expect((await owner.get(`${url}/labels`)).body).toHaveLength(1)
  expect((await owner.get(`${url}/members`)).body).toHaveLength(1)

  const accepted = [
    await owner.put(`${url}/notification_settings`, { level: 'watch' }),
    await owner.post(`${url}/labels/bug/subscribe`),
    await administrator.put(`${url}/custom_attributes/room`, { value: '12' }),
  ]
  expect(accepted.map(({ status }) => status)).toEqual([200, 201, 200])
})
