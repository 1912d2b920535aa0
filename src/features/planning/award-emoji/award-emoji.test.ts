import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../../test/crew.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

test('reactions are given under any name of an emoji, counted, listed and taken back', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  const { id: issueId } = (await owner.get(url)).body
  const given = await owner.post(`${url}/award_emoji`, { name: '+1' })
  expect(given).toMatchObject({ status: 201 })
  expect(given.body).toEqual({
    id: expect.any(Number),
    name: 'thumbsup',
    user: expect.objectContaining({ id: owner.id }),
    created_at: expect.stringMatching(/Z$/),
    updated_at: given.body.created_at,
    awardable_id: issueId,
    awardable_type: 'Issue',
    url: null,
  })
  const { body: other } = await people.guest.post(`${url}/award_emoji`, { name: '-1' })
  expect((await people.guest.get(`${url}/award_emoji`)).body).toEqual([given.body, other])
  expect((await people.guest.get(`${url}/award_emoji/${other.id}`)).body).toEqual(other)
  expect((await owner.get(url)).body).toMatchObject({ upvotes: 1, downvotes: 1 })
  expect((await owner.delete(`${url}/award_emoji/${given.body.id}`)).status).toBe(204)
  expect((await owner.get(url)).body).toMatchObject({ upvotes: 0, downvotes: 1 })
})

test('notes have reactions of their own, system notes none', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = await issue()
  const { body: note } = await owner.post(`${url}/notes`, { body: 'x' })
  const at = `${url}/notes/${note.id}/award_emoji`
  const { body: given } = await people.guest.post(at, { name: 'tada' })
  expect(given).toMatchObject({ name: 'tada', awardable_id: note.id, awardable_type: 'Note' })
  expect((await owner.get(at)).body).toEqual([given])
  expect((await owner.get(`${url}/award_emoji`)).body).toEqual([])
  expect((await owner.get(`${url}/award_emoji/${given.id}`)).status).toBe(404)
  await owner.put(url, { state_event: 'close' })
  const [systemNote] = (await owner.get(`${url}/notes`)).body
  const refused = await owner.post(`${url}/notes/${systemNote.id}/award_emoji`, { name: 'tada' })
  expect(refused).toMatchObject({ status: 404, body: { message: '404 Award Emoji Not Found' } })
})

test.each([
  ['guest', 'POST', '', {}, 400, { error: 'name is missing' }],
  [
    'guest',
    'POST',
    '',
    { name: 'nonsense_' },
    404,
    '404 Award Emoji {:name=>["is not included in the list"]} Not Found',
  ],
  ['owner', 'POST', '', { name: 'tada' }, 404, '404 Award Emoji {:name=>["has already been taken"]} Not Found'],
  ['master', 'DELETE', '/AWARD', undefined, 401, '401 Unauthorized'],
  ['owner', 'DELETE', '/999999', undefined, 404, '404 Not found'],
] as const)('%s: %s award_emoji%s with %o is refused', async (role, method, path, input, status, body) => {
  const { issue, owner, people } = await crewOf(forge)
  const url = `${await issue()}/award_emoji`
  const { body: given } = await owner.post(url, { name: 'tada' })
  const caller = role === 'owner' ? owner : people[role]
  const answer = await caller.request(method, url + path.replace('AWARD', given.id), input)
  expect(answer).toMatchObject({ status, body: typeof body === 'string' ? { message: body } : body })
  expect((await owner.get(url)).body).toEqual([given])
})

test('what is hidden has no reactions to see', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const hidden = await issue({ confidential: true })
  const { body } = await people.guest.get(`${hidden}/award_emoji`)
  expect(body).toEqual({ message: '404 Award Emoji Not Found' })
  const url = await issue()
  const { body: note } = await owner.post(`${url}/notes`, { body: 'x', internal: true })
  expect((await people.guest.post(`${url}/notes/${note.id}/award_emoji`, { name: 'tada' })).status).toBe(404)
})

test('a longer list asks the store no more', async () => {
  const { issue, owner, people } = await crewOf(forge)
  const url = `${await issue()}/award_emoji`
  await owner.post(url, { name: 'tada' })
  const count = async () => {
    await owner.get(url)
    return forge.queries(() => owner.get(url))
  }
  const few = await count()
  for (const person of Object.values(people)) await person.post(url, { name: 'tada' })
  expect(await count()).toBe(few)
})
