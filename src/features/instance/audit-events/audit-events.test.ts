import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { forgetAuditEvents } from './jobs.ts'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge[Symbol.asyncDispose]())

const newest = async () => (await forge.administrator.get('/audit_events', { per_page: 1 })).body[0]

test('what administrators change is kept, with what it was before and without secrets', async () => {
  const { administrator } = forge
  await administrator.put('/application/settings', { session_expire_delay: 99, akismet_api_key: 'hunter2' })
  expect(await newest()).toMatchObject({
    author_id: administrator.id,
    entity_type: 'ApplicationSetting',
    event_name: 'PUT /application/settings',
    details: {
      custom_message: 'Update settings of the instance',
      ip_address: '127.0.0.1',
      changes: expect.arrayContaining([{ change: 'session_expire_delay', from: 10080, to: 99 }]),
    },
  })
  const jane = await forge.user()
  await administrator.put(`/users/${jane.id}`, { admin: true, password: 'correct-horse-battery' })
  expect(await newest()).toMatchObject({
    entity_type: 'User',
    entity_id: jane.id,
    details: { entity_path: jane.username, changes: expect.arrayContaining([{ change: 'password' }]) },
  })
  await administrator.post(`/users/${jane.id}/block`)
  expect(await newest()).toMatchObject({ event_name: expect.stringContaining('/block'), entity_id: jane.id })
  const made = { username: 'noted', name: 'N', email: 'noted@example.com', password: 'correct-horse-battery' }
  const { body: created } = await administrator.post('/users', made)
  expect(await newest()).toMatchObject({ entity_id: created.id, details: { entity_path: 'noted' } })
  const all = JSON.stringify(await forge.app.db.selectFrom('audit_events').selectAll().execute())
  expect(all).not.toMatch(/hunter2|correct-horse/)
  const one = await newest()
  expect((await administrator.get(`/audit_events/${one.id}`)).body).toEqual(one)
})

test('what is done as somebody else is kept; what people do themselves, and what was refused, is not', async () => {
  const { administrator } = forge
  const jane = await forge.user()
  const before = await newest()
  await jane.post('/user/emails', { email: 'own@example.com' })
  await administrator.put(`/users/${jane.id}`, { email: 'no address' })
  await jane.put(`/users/${jane.id}`, { admin: true })
  await administrator.get('/users')
  expect(await newest()).toEqual(before)
  await administrator.post('/user/emails', { email: 'sudo@example.com', sudo: jane.username })
  const { details } = await newest()
  expect(details).toMatchObject({ acting_as: jane.username, changes: [{ change: 'email' }] })
})

test('they are found by what they are about and when, and kept for a year', async () => {
  const { administrator } = forge
  const ask = async (query: object) => (await administrator.get('/audit_events', { ...query })).body as { id: number }[]
  const about = await ask({ entity_type: 'ApplicationSetting' })
  expect(about).toHaveLength(1)
  const all = await ask({})
  expect(await ask({ id_before: all[1]!.id })).toEqual(all.slice(2))
  expect(await ask({ created_before: '2001-01-01' })).toEqual([])
  expect(await ask({ created_after: '2001-01-01' })).toEqual(all)
  forge.clock.advance(366 * DAY)
  await forgetAuditEvents.handle(forge.app, {})
  expect(await ask({})).toEqual([])
})
