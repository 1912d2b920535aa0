import { expect, test } from 'vitest'
import { DAY } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

const stateOf = async (forge: Awaited<ReturnType<typeof startForge>>, id: number) =>
  (await forge.administrator.get(`/users/${id}`)).body.state

test('a deactivated user has no access until the next sign-in', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user({ password: 'correct horse battery' })
  const before = await forge.events()
  expect(await root.post(`/users/${jane.id}/deactivate`)).toMatchObject({ status: 201, body: true })
  expect(await root.post(`/users/${jane.id}/deactivate`)).toMatchObject({ status: 201, body: true })
  expect(await stateOf(forge, jane.id)).toBe('deactivated')
  expect((await jane.get('/user')).status).toBe(401)
  expect((await root.get('/users', { active: true, username: jane.username })).body).toEqual([])

  const wrong = { login: jane.username, password: 'wrong' }
  expect((await forge.visitor.post('/session', wrong)).status).toBe(401)
  expect(await stateOf(forge, jane.id)).toBe('deactivated')
  const right = { login: jane.username, password: 'correct horse battery' }
  expect((await forge.visitor.post('/session', right)).status).toBe(201)
  expect(await stateOf(forge, jane.id)).toBe('active')
  expect((await jane.get('/user')).status).toBe(200)
  expect(await forge.events()).toEqual([...before, 'user.deactivated', 'user.activated'])

  forge.clock.advance(91 * DAY)
  await root.post(`/users/${jane.id}/deactivate`)
  expect(await root.post(`/users/${jane.id}/activate`)).toMatchObject({ status: 201, body: true })
  expect(await stateOf(forge, jane.id)).toBe('active')
})

test('a ban is lifted by its own call only', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user()
  const before = await forge.events()
  expect(await root.post(`/users/${jane.id}/ban`)).toMatchObject({ status: 201, body: true })
  expect(await stateOf(forge, jane.id)).toBe('banned')
  expect((await jane.get('/user')).status).toBe(401)
  expect(await root.post(`/users/${jane.id}/unblock`)).toMatchObject({ status: 201, body: false })
  expect(await root.post(`/users/${jane.id}/block`)).toMatchObject({ status: 201, body: false })
  expect(await stateOf(forge, jane.id)).toBe('banned')
  expect(await root.post(`/users/${jane.id}/unban`)).toMatchObject({ status: 201, body: true })
  expect((await jane.get('/user')).status).toBe(200)
  expect(await forge.events()).toEqual([...before, 'user.banned', 'user.unbanned'])
})

test('refusals leave everybody as they were', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const [blocked, banned, resting, lively] = [
    await forge.user(),
    await forge.user(),
    await forge.user(),
    await forge.user(),
  ]
  await root.post(`/users/${blocked.id}/block`)
  await root.post(`/users/${banned.id}/ban`)
  await root.post(`/users/${resting.id}/deactivate`)
  const today = forge.clock.now().toISOString().slice(0, 10)
  await forge.app.db.updateTable('users').set({ last_activity_on: today }).where('id', '=', lively.id).execute()
  const before = await forge.events()
  const recent =
    '403 Forbidden - The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated'
  const refusals = [
    [lively, 'deactivate', recent],
    [blocked, 'deactivate', '403 Forbidden - A blocked user cannot be deactivated by the API'],
    [banned, 'deactivate', '403 Forbidden - A blocked user cannot be deactivated by the API'],
    [root, 'deactivate', '403 Forbidden'],
    [blocked, 'activate', '403 Forbidden - A blocked user must be unblocked to be activated'],
    [banned, 'activate', '403 Forbidden - A blocked user must be unblocked to be activated'],
    [resting, 'unblock', '403 Forbidden - Deactivated users cannot be unblocked by the API'],
    [blocked, 'ban', 'You cannot ban blocked users.'],
    [root, 'ban', '403 Forbidden'],
    [lively, 'unban', 'You cannot unban active users.'],
  ] as const
  for (const [{ id }, verb, message] of refusals) {
    expect(await root.post(`/users/${id}/${verb}`), verb).toMatchObject({ status: 403, body: { message } })
  }
  expect(await forge.events()).toEqual(before)
})

test('an identity is removed by its provider', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user()
  await root.put(`/users/${jane.id}`, { provider: 'github', extern_uid: '7' })
  await root.put(`/users/${jane.id}`, { provider: 'forge', extern_uid: '8' })
  expect((await root.delete(`/users/${jane.id}/identities/github`)).status).toBe(204)
  expect((await root.get(`/users/${jane.id}`)).body.identities).toEqual([{ provider: 'forge', extern_uid: '8' }])
  expect(await root.delete(`/users/${jane.id}/identities/github`)).toMatchObject({
    status: 404,
    body: { message: '404 Identity Not Found' },
  })
})
