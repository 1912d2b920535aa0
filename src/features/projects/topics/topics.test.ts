import { expect, test } from 'vitest'
import { PIXEL, pngOf } from '../../../../test/samples.ts'
import { openSource } from '../../../../test/sources.ts'
import { HOUR } from '../../../clock.ts'
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
    [
      'POST',
      '/topics',
      { name: 'x'.repeat(256), title: ' ', description: 'x'.repeat(1025) },
      400,
      {
        message: {
          name: ['is too long (maximum is 255 characters)'],
          title: ["can't be blank"],
          description: ['is too long (maximum is 1024 characters)'],
        },
      },
    ],
    ['PUT', `/topics/${a}`, { name: '' }, 400, { message: { name: ["can't be blank"] } }],
    ['PUT', '/topics/999', { name: '' }, 404, {}],
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

const formOf = (fields: Record<string, string | Blob>, filename = 'wood.png') => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') form.set(name, value)
    else form.set(name, value, filename)
  return form
}
const picture = (bytes: Uint8Array = PIXEL) => new Blob([Buffer.from(bytes)])

test('a topic has an avatar, visible like the topic, until it is removed', async () => {
  await using forge = await startForge()
  const { administrator: root, visitor } = forge
  const { body: made } = await root.post('/topics', formOf({ name: 'wood', title: 'Wood', avatar: picture() }))
  const base = `${forge.url}/uploads/-/system/projects/topic/avatar/${made.id}`
  expect(made.avatar_url).toBe(`${base}/wood.png`)
  expect((await visitor.get('/topics')).body).toMatchObject([{ name: 'wood', avatar_url: made.avatar_url }])
  const image = await fetch(made.avatar_url)
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(Buffer.from(await image.arrayBuffer())).toEqual(PIXEL)
  for (const other of [`${base}/other.png`, `${base}0/wood.png`, `${base}${'9'.repeat(30)}/wood.png`])
    expect([other, (await fetch(other)).status]).toEqual([other, 404])

  const put = async (input: FormData | Record<string, unknown>) =>
    (await root.put(`/topics/${made.id}`, input)).body.avatar_url
  expect(await put({ title: 'Woods', avatar: null })).toBe(made.avatar_url)
  expect(await put(formOf({ avatar: picture(pngOf(2, 2)) }, 'oak.png'))).toBe(`${base}/oak.png`)
  expect((await fetch(made.avatar_url)).status).toBe(404)
  expect(await put({ avatar: '' })).toBeNull()
  expect((await fetch(`${base}/oak.png`)).status).toBe(404)

  // Without a description, only users who see a project with the topic see the topic.
  const hidden = await openSource(forge, 'projects', { topics: ['secret'] })
  const [{ id }] = (await root.get('/topics', { search: 'secret' })).body
  await root.put(`/topics/${id}`, formOf({ avatar: picture() }))
  await forge.app.db.updateTable('topics').set({ curated: false }).where('id', '=', id).execute()
  const address = (await hidden.owner.get(`/topics/${id}`)).body.avatar_url
  expect((await fetch(address)).status).toBe(404)
  expect((await fetch(address, { headers: hidden.owner.headers })).status).toBe(200)
})

test('what is no picture, too large or sent by others is refused, and the topic stays as it was', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user()
  const { body: made } = await root.post('/topics', formOf({ name: 'wood', title: 'Wood', avatar: picture() }))
  for (const [who, avatar, status, message] of [
    [root, new Blob(['<svg/>']), 400, { avatar: ['only images allowed'] }],
    [root, new Blob([PIXEL, Buffer.alloc(201 * 1024)]), 400, { avatar: ['is too big (should be at most 200 KB)'] }],
    [jane, picture(), 403, '403 Forbidden'],
  ] as const) {
    const form = () => formOf({ name: 'other', title: 'Other', avatar })
    expect(await who.put(`/topics/${made.id}`, form())).toMatchObject({ status, body: { message } })
    expect(await who.post('/topics', form())).toMatchObject({ status, body: { message } })
  }
  expect((await root.get('/topics')).body).toEqual([made])
})

test('pictures of topics go when the last topic has left them', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const make = async (name: string) =>
    (await root.post('/topics', formOf({ name, title: name, avatar: picture() }))).body.id
  const [a, b, c] = [await make('a'), await make('b'), await make('c')]
  const { avatar_digest } = await app.db.selectFrom('topics').select('avatar_digest').executeTakeFirstOrThrow()
  const isKept = async () => {
    forge.clock.advance(2 * HOUR)
    await forge.settle()
    return app.blobs.has(avatar_digest!)
  }
  expect(await isKept()).toBe(true)
  await root.put(`/topics/${c}`, { avatar: '' })
  await root.post('/topics/merge', { source_topic_id: b, target_topic_id: a })
  expect(await isKept()).toBe(true)
  await root.delete(`/topics/${a}`)
  expect(await isKept()).toBe(false)
})
