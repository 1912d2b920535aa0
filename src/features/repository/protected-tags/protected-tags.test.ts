import { expect, test } from 'vitest'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const role = (access_level: number, access_level_description: string) => ({
  id: expect.any(Number) as number,
  access_level,
  access_level_description,
  user_id: null,
  group_id: null,
  deploy_key_id: null,
})

test('a tag is protected, read and set free again', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const tags = `${url}/protected_tags`
  const made = await owner.post(tags, { name: 'v*' })
  expect(made).toEqual({
    status: 201,
    headers,
    body: { name: 'v*', create_access_levels: [role(40, 'Masters')] },
  })
  const named = [{ user_id: owner.id }, { access_level: 0 }]
  const { body: other } = await owner.post(tags, { name: 'a/1.0', allowed_to_create: named })
  expect(other.create_access_levels).toEqual([
    {
      ...role(0, ''),
      access_level: null,
      access_level_description: expect.stringMatching(/^Owner/),
      user_id: owner.id,
    },
    role(0, 'No one'),
  ])
  expect((await owner.get(tags)).body).toEqual([made.body, other])
  expect((await owner.get(`${tags}/a%2F1.0`)).body).toEqual(other)
  // Branches of the same name are not affected.
  expect((await owner.get(`${url}/protected_branches`)).body).toEqual([])

  const long = { 'If-Unmodified-Since': new Date(Date.now() - 10 * MINUTE).toUTCString() }
  expect((await owner.delete(`${tags}/v*`, undefined, long)).status).toBe(412)
  expect(await owner.delete(`${tags}/v*`)).toMatchObject({ status: 204, body: '' })
  expect(await owner.delete(`${tags}/v*`)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect((await owner.get(`${tags}/v*`)).body).toEqual({ message: '404 Not found' })
  expect((await owner.get(tags)).body).toEqual([other])
})

test('refuses what is no rule, or one that stands', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const tags = `${url}/protected_tags`
  const { body: known } = await owner.post(tags, { name: 'v1', create_access_level: 30 })
  const value = 'create_access_level does not have a valid value'
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ name: 'v1' }, 422, { message: ['Name has already been taken'] }],
    [{ name: '' }, 422, { message: ["Name can't be blank"] }],
    [{}, 400, { message: '400 (Bad request) name not given', error: 'name is missing' }],
    [{ name: 'x', create_access_level: 20 }, 400, { message: value, error: value }],
    [
      { name: 'x', allowed_to_create: [{ user_id: 999_999 }] },
      422,
      { message: ['Create access levels user is not a member of the project'] },
    ],
  ]
  for (const [input, status, body] of refusals)
    expect(await owner.post(tags, input), JSON.stringify(input)).toEqual({ status, body, headers })
  expect((await owner.get(tags)).body).toEqual([known])
})

test('masters only, at the same cost however many rules there are', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const tags = `${source.url}/protected_tags`
  for (const name of ['one', 'two']) await source.owner.post(tags, { name })
  const callers = await callersOf(forge, source)
  const table: [string, string, Record<string, unknown> | undefined, number][] = [
    ['GET', tags, undefined, 200],
    ['GET', `${tags}/one`, undefined, 200],
    ['POST', tags, { name: 'one' }, 422],
    ['DELETE', `${tags}/other`, undefined, 404],
  ]
  for (const [method, path, input, ok] of table) {
    const statuses = await statusesOf(callers, (caller) => caller.request(method, path, input))
    expect(statuses, `${method} ${path}`).toEqual([401, 403, 403, 403, 403, 403, ok, ok, ok, 401])
  }
  const few = await costOf(forge, () => source.owner.get(tags))
  for (let n = 0; n < 10; n++) await source.owner.post(tags, { name: `more-${n}` })
  expect(await costOf(forge, () => source.owner.get(tags))).toBe(few)
  expect((await source.owner.get(tags, { per_page: 5 })).headers.get('x-total')).toBe('12')
})
