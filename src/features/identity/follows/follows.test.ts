import { expect, test } from 'vitest'
import { costOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('people follow each other, once, and stop', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user(), await forge.user()]
  const ids = async (path: string) => (await jane.get(path)).body.map((one: { id: number }) => one.id)
  const before = await forge.events()

  const followed = await jane.post(`/users/${john.id}/follow`)
  expect(followed).toMatchObject({ status: 201, body: { id: john.id, username: john.username, state: 'active' } })
  expect((await jane.post(`/users/${john.id}/follow`)).status).toBe(304)
  expect(await ids(`/users/${john.id}/followers`)).toEqual([jane.id])
  expect(await ids(`/users/${jane.id}/following`)).toEqual([john.id])
  expect(await ids(`/users/${jane.id}/followers`)).toEqual([])

  expect((await jane.post(`/users/${john.id}/unfollow`)).status).toBe(201)
  expect((await jane.post(`/users/${john.id}/unfollow`)).status).toBe(304)
  expect(await ids(`/users/${john.id}/followers`)).toEqual([])
  expect(await forge.events()).toEqual([...before, 'user.followed', 'user.unfollowed'])
})

test('users cannot follow themselves or blocked users, and such follows are not listed', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user(), await forge.user()]
  await jane.post(`/users/${john.id}/follow`)
  await forge.administrator.post(`/users/${john.id}/block`)
  expect((await jane.get(`/users/${jane.id}/following`)).body).toEqual([])
  await jane.post(`/users/${john.id}/unfollow`)
  expect((await jane.post(`/users/${john.id}/follow`)).status).toBe(304)
  expect((await jane.post(`/users/${jane.id}/follow`)).status).toBe(304)
  expect((await jane.post('/users/4711/follow')).status).toBe(404)
  expect(await forge.app.db.selectFrom('user_follows').selectAll().execute()).toEqual([])
})

test('a list costs the same however long it is', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  await (await forge.user()).post(`/users/${jane.id}/follow`)
  const cost = () => costOf(forge, () => jane.get(`/users/${jane.id}/followers`))
  const one = await cost()
  for (let n = 0; n < 4; n++) await (await forge.user()).post(`/users/${jane.id}/follow`)
  expect(await cost()).toBe(one)
})
