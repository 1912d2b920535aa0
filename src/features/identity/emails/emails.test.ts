import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('an address is kept trimmed, in lower case, and counts as confirmed', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const answer = await jane.post('/user/emails', { email: ' Jane@Work.Example ' })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.any(Number),
    email: 'jane@work.example',
    confirmed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect((await jane.get('/user/emails')).body).toEqual([answer.body])
})

test('refuses what is no address, or somebody’s already', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ email: 'jane@example.com' })
  const john = await forge.user({ email: 'john@example.com' })
  const { body: known } = await john.post('/user/emails', { email: 'john@work.example' })
  const events = await forge.events()

  const refusals = [
    ['', "can't be blank"],
    ['jane', 'is invalid'],
    ['jane@', 'is invalid'],
    ['jane@example.com, john@example.com', 'is invalid'],
    [`${'x'.repeat(250)}@example.com`, 'is invalid'],
    ['jane@example.com', 'has already been taken'],
    ['JOHN@example.com', 'has already been taken'],
    ['John@Work.example', 'has already been taken'],
  ] as const
  for (const [email, text] of refusals) {
    const refused = { status: 400, body: { message: { email: [text] } }, headers: expect.anything() }
    expect(await jane.post('/user/emails', { email })).toEqual(refused)
    expect(await administrator.post(`/users/${jane.id}/emails`, { email })).toEqual(refused)
  }
  const list = await jane.post('/user/emails', { email: ['jane@home.example', 'john@home.example'] })
  expect(list).toMatchObject({ status: 400, body: { message: 'email is invalid' } })

  expect((await jane.get('/user/emails')).body).toEqual([])
  expect((await john.get('/user/emails')).body).toEqual([known])
  expect(await forge.events()).toEqual(events)
})

test('a deleted address is free again, and is named to whoever used it', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const john = await forge.user()
  const { body } = await jane.post('/user/emails', { email: 'shared@example.com' })
  await jane.delete(`/user/emails/${body.id}`)
  expect((await john.post('/user/emails', { email: 'shared@example.com' })).status).toBe(201)

  const told = await forge.app.db.selectFrom('events').select('payload').where('name', '=', 'email.deleted').execute()
  expect(told.map(({ payload }) => JSON.parse(payload))).toEqual([
    { id: body.id, user_id: jane.id, email: 'shared@example.com' },
  ])
})
