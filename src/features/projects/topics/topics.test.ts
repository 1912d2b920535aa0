import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge, type Client } from '../../../forge.ts'

const shown = async (client: Client, input = {}) =>
  (await client.get('/topics', input)).body.map(
    (topic: { name: string; total_projects_count: number }) => `${topic.name} ${topic.total_projects_count}`,
  )

test('topics are those of projects that one sees, counted, and those that were described', async () => {
  await using forge = await startForge()
  const open = await openSource(forge, 'projects', { visibility: 'public', topics: ['Wood', 'saw'] })
  const closed = await openSource(forge, 'projects', { topics: ['wood', 'secret'] })
  const described = await forge.administrator.post('/topics', {
    name: 'glue',
    title: 'Glue & co',
    description: 'Sticks',
  })
  expect(described).toMatchObject({ status: 201 })
  expect(described.body).toEqual({
    id: expect.any(Number),
    name: 'glue',
    title: 'Glue & co',
    description: 'Sticks',
    total_projects_count: 0,
    avatar_url: null,
  })
  expect(await shown(forge.visitor)).toEqual(['Wood 1', 'saw 1', 'glue 0'])
  expect(await shown(closed.owner)).toEqual(['Wood 2', 'saw 1', 'secret 1', 'glue 0'])
  expect(await shown(forge.administrator)).toEqual(['Wood 2', 'saw 1', 'secret 1', 'glue 0'])
  expect(await shown(open.owner, { search: 'GLU' })).toEqual(['glue 0'])
  expect(await shown(open.owner, { without_projects: true })).toEqual(['glue 0'])
  const [{ id: secret }] = (await closed.owner.get('/topics', { search: 'secret' })).body
  expect((await closed.owner.get(`/topics/${secret}`)).body.title).toBe('secret')
  expect(await open.owner.get(`/topics/${secret}`)).toMatchObject({
    status: 404,
    body: { message: '404 Topic Not Found' },
  })
})

test('administrators rename, merge and delete topics, and projects follow', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const one = await openSource(forge, 'projects', { topics: ['a', 'b'] })
  const two = await openSource(forge, 'projects', { topics: ['b'] })
  const idOf = async (search: string) => (await administrator.get('/topics', { search })).body[0].id
  const of = async ({ owner, url }: typeof one) => (await owner.get(url)).body.topics
  const [a, b] = [await idOf('a'), await idOf('b')]
  expect((await administrator.put(`/topics/${a}`, { name: 'c', title: 'See' })).body).toMatchObject({
    name: 'c',
    title: 'See',
    total_projects_count: 1,
  })
  expect(await of(one)).toEqual(['c', 'b'])
  for (const [method, path, input, status, body] of [
    ['PUT', `/topics/${a}`, { name: 'B' }, 400, { message: { name: ['has already been taken'] } }],
    ['POST', '/topics', { name: ' ', title: 'x' }, 400, { message: { name: ["can't be blank"] } }],
    ['POST', '/topics', { name: 'x' }, 400, { error: 'title is missing' }],
    ['POST', '/topics/merge', { source_topic_id: a, target_topic_id: a }, 400, {}],
    ['POST', '/topics/merge', { source_topic_id: 999, target_topic_id: a }, 404, {}],
  ] as const)
    expect(await administrator.request(method, path, input)).toMatchObject({ status, body })
  expect(await of(one)).toEqual(['c', 'b'])

  const merged = await administrator.post('/topics/merge', { source_topic_id: b, target_topic_id: a })
  expect(merged.body).toMatchObject({ name: 'c', total_projects_count: 2 })
  expect([await of(one), await of(two)]).toEqual([['c'], ['c']])
  expect((await administrator.delete(`/topics/${a}`)).status).toBe(204)
  expect([await of(one), await of(two)]).toEqual([[], []])
})
