import { expect, test } from 'vitest'
import { HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

const NONE = { emoji: null, message: null, availability: null, message_html: null, clear_status_at: null }

test('a status is set, read by everybody, and ends by itself', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  using _held = forge.clock.hold()
  expect((await jane.get('/user/status')).body).toEqual(NONE)

  const input = { emoji: 'coffee', message: 'R&D <b>', availability: 'busy', clear_status_after: '3_hours' }
  const status = {
    emoji: 'coffee',
    message: 'R&D <b>',
    availability: 'busy',
    message_html: 'R&amp;D &lt;b&gt;',
    clear_status_at: new Date(forge.clock.now().getTime() + 3 * HOUR).toISOString(),
  }
  const set = await jane.put('/user/status', input)
  expect(set).toMatchObject({ status: 200, body: status })
  for (const name of ['jane', 'JANE', String(jane.id)]) {
    expect((await forge.visitor.get(`/users/${name}/status`)).body).toEqual(set.body)
  }
  expect(await forge.events()).toContain('user.status_changed')
  forge.clock.advance(3 * HOUR + 1000)
  expect((await jane.get('/user/status')).body).toEqual(NONE)
  expect((await forge.visitor.get('/users/nobody/status')).status).toBe(404)
})

test('PUT replaces all of it, PATCH what it names; an empty one is none', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  await jane.put('/user/status', { emoji: 'coffee', message: 'pause' })
  expect((await jane.request('PATCH', '/user/status', { availability: 'busy' })).body).toMatchObject({
    emoji: 'coffee',
    message: 'pause',
    availability: 'busy',
  })
  expect((await jane.put('/user/status', { message: 'here' })).body).toMatchObject({
    emoji: 'speech_balloon',
    message: 'here',
    availability: 'not_set',
  })
  expect((await jane.put('/user/status', { emoji: '', message: '' })).body).toEqual(NONE)
  expect(await forge.app.db.selectFrom('user_statuses').selectAll().execute()).toEqual([])
})

test.each([
  [{ message: 'x'.repeat(101) }, { message: ['is too long (maximum is 100 characters)'] }],
  [{ emoji: '<b>' }, { emoji: ['is not a valid emoji name'] }],
])('refuses %j', async (input, message) => {
  await using forge = await startForge()
  const jane = await forge.user()
  expect(await jane.put('/user/status', input)).toMatchObject({ status: 400, body: { message } })
  expect((await jane.put('/user/status', { availability: 'asleep' })).status).toBe(400)
  expect((await jane.put('/user/status', { clear_status_after: 'soon' })).status).toBe(400)
  expect((await jane.get('/user/status')).body).toEqual(NONE)
})
