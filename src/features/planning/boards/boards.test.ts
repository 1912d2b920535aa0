import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { KINDS, costOf, openSource, type Source } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

const headers: unknown = expect.anything()

const labelIn = async ({ url, owner }: Pick<Source, 'url' | 'owner'>, name: string) =>
  (await owner.post(`${url}/labels`, { name, color: 'red', description: name })).body

/** A board with one list per name; returns the paths of its lists. */
async function boardOf(source: Source, names: readonly string[]) {
  const { url, owner } = source
  const [{ id }] = (await owner.get(`${url}/boards`)).body
  const at = `${url}/boards/${id}/lists`
  for (const name of names) await owner.post(at, { label_id: (await labelIn(source, name)).id })
  const lists = async () =>
    (await owner.get(at)).body as { id: number; label: { id: number; name: string }; position: number }[]
  const order = async () => (await lists()).map(({ label, position }) => `${position} ${label.name}`)
  const idOf = async (name: string) => (await lists()).find(({ label }) => label.name === name)!.id
  return { at, id, lists, order, idOf }
}

test.each(KINDS)('a board of %s comes to be when it is first asked for', async (kind) => {
  await using forge = await startForge()
  const source = await openSource(forge, kind)
  const { url, id, owner } = source
  const answers = await Promise.all(Array.from({ length: 5 }, () => owner.get(`${url}/boards`)))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  const [board] = answers[0]!.body
  const web_url = `${forge.url}${source.path}`
  const project: unknown = expect.objectContaining({ id, web_url })
  const whose = kind === 'groups' ? { group: { id, name: board.group?.name, web_url } } : { project }
  const blank = { id: board.id, name: 'Development', hide_backlog_list: false, hide_closed_list: false, lists: [] }
  expect(answers[0]!.body).toEqual([{ ...blank, ...whose }])
  expect((await owner.get(`${url}/boards/${board.id}`)).body).toEqual(board)

  const other = await owner.post(`${url}/boards`, { name: ' Second ' })
  expect(other).toMatchObject({ status: 201, body: { name: 'Second', lists: [] } })
  const changed = await owner.put(`${url}/boards/${other.body.id}`, { name: 'Third', hide_closed_list: true })
  expect(changed.body).toEqual({ ...other.body, name: 'Third', hide_closed_list: true })
  expect((await owner.get(`${url}/boards`)).body).toHaveLength(2)
  expect((await owner.delete(`${url}/boards/${other.body.id}`)).status).toBe(204)
  expect((await owner.get(`${url}/boards`)).body).toEqual([board])
})

test.each(KINDS)('lists of a board of %s stand in the order they are given', async (kind) => {
  await using forge = await startForge()
  const source = await openSource(forge, kind)
  const { url, owner } = source
  const { at, id, order, idOf, lists } = await boardOf(source, ['a', 'b', 'c', 'd'])
  expect(await order()).toEqual(['0 a', '1 b', '2 c', '3 d'])
  const [first] = await lists()
  expect(first).toEqual({
    id: first!.id,
    label: { id: expect.any(Number), name: 'a', color: '#FF0000', description: 'a' },
    position: 0,
  })
  expect(await owner.put(`${at}/${first!.id}`, { position: 2 })).toEqual({
    status: 200,
    body: { ...first, position: 2 },
    headers,
  })
  expect(await order()).toEqual(['0 b', '1 c', '2 a', '3 d'])
  await owner.put(`${at}/${await idOf('d')}`, { position: '0' })
  expect(await order()).toEqual(['0 d', '1 b', '2 c', '3 a'])
  expect((await owner.delete(`${at}/${await idOf('b')}`)).status).toBe(204)
  await owner.delete(`${url}/labels/d`)
  expect(await order()).toEqual(['0 c', '1 a'])
  await owner.post(at, { label_id: (await labelIn(source, 'e')).id })
  expect(await order()).toEqual(['0 c', '1 a', '2 e'])
  expect((await owner.get(`${url}/boards/${id}`)).body.lists).toEqual(await lists())
  expect((await owner.get(`${at}/${await idOf('e')}`)).body.position).toBe(2)
})

test('of many who add a list of the same label at once, one does', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { at, order } = await boardOf(source, ['a'])
  const { id: label_id } = await labelIn(source, 'b')
  const add = () => source.owner.post(at, { label_id })
  const refused = { status: 400, body: { message: { label_id: ['has already been taken'] } } }
  expect(await atOnce(forge, add, add, add)).toMatchObject([{ status: 201 }, refused, refused])
  expect(await order()).toEqual(['0 a', '1 b'])
})

test('moves side by side leave no gap', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { at, lists } = await boardOf(source, ['a', 'b', 'c', 'd', 'e'])
  const all = await lists()
  const inputs = all.flatMap(({ id }, n) => [n, (n + 2) % 5, (n + 4) % 5].map((position) => ({ id, position })))
  const answers = await Promise.all(inputs.map(({ id, position }) => source.owner.put(`${at}/${id}`, { position })))
  expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true)
  const after = await lists()
  expect(after.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4])
  expect(new Set(after.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)))
  const { db } = forge.app
  const rows = await db.selectFrom('board_lists').select('position').orderBy('position').execute()
  expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4])
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { url, group, owner } = source
  const { at, id, lists } = await boardOf(source, ['a', 'b'])
  const above = await labelIn({ url: group.url, owner }, 'above')
  const { body: other } = await owner.post('/projects', { name: 'Other', namespace_id: group.id })
  const elsewhere = `/projects/${other.id}`
  const foreign = await labelIn({ url: elsewhere, owner }, 'foreign')
  const [first] = await lists()
  const state = async () => [
    await forge.app.db.selectFrom('boards').selectAll().orderBy('id').execute(),
    await forge.app.db.selectFrom('board_lists').selectAll().orderBy('id').execute(),
  ]
  const before = await state()
  const missing = { message: '400 (Bad request) label_id not given', error: 'label_id is missing' }
  const unmoved = { message: { error: 'List could not be moved!' } }
  const refusals = [
    ['post', at, {}, 400, missing],
    ['post', at, { label_id: foreign.id }, 400, { message: { error: 'Label not found!' } }],
    ['post', at, { label_id: first!.label.id }, 400, { message: { label_id: ['has already been taken'] } }],
    ['put', `${at}/${first!.id}`, { position: 0 }, 400, unmoved],
    ['put', `${at}/${first!.id}`, { position: 2 }, 400, unmoved],
    ['put', `${at}/${first!.id}`, { position: -1 }, 400, unmoved],
    ['put', `${at}/4000000`, { position: 1 }, 404, { message: '404 Not found' }],
    ['delete', `${at}/4000000`, undefined, 404, { message: '404 Not found' }],
    ['get', `${url}/boards/4000000`, undefined, 404, { message: '404 Board Not Found' }],
    ['get', `${elsewhere}/boards/${id}`, undefined, 404, { message: '404 Board Not Found' }],
    ['post', `${url}/boards`, { name: ' ' }, 400, { message: { name: ["can't be blank"] } }],
    [
      'put',
      `${url}/boards/${id}`,
      { name: 'x'.repeat(256) },
      400,
      { message: { name: ['is too long (maximum is 255 characters)'] } },
    ],
  ] as const
  for (const [method, path, input, status, body] of refusals)
    expect({ path, ...(await owner[method](path, input)) }).toMatchObject({ path, status, body })
  expect(await state()).toEqual(before)
  expect((await owner.post(at, { label_id: above.id })).status).toBe(201)

  await owner.put(url, { issues_access_level: 'disabled' })
  for (const answer of [await owner.get(`${url}/boards`), await owner.get(at), await owner.post(at, { label_id: 1 })])
    expect(answer.status).toBe(403)
  await owner.put(url, { issues_access_level: 'enabled' })
  await owner.post(`${url}/archive`)
  expect((await owner.get(at)).status).toBe(200)
  for (const answer of [
    await owner.put(`${at}/${first!.id}`, { position: 1 }),
    await owner.delete(`${at}/${first!.id}`),
    await owner.post(`${url}/boards`, { name: 'x' }),
  ])
    expect(answer.status).toBe(403)
})

test('a page costs the same number of queries however many boards and lists are on it', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const { lists } = await boardOf(source, ['a'])
  const list = () => owner.get(`${url}/boards`)
  const few = await costOf(forge, list)
  const [first] = await lists()
  for (let n = 0; n < 5; n++) {
    const { body } = await owner.post(`${url}/boards`, { name: `board ${n}` })
    await owner.post(`${url}/boards/${body.id}/lists`, { label_id: first!.label.id })
  }
  expect((await list()).body.map((board: { lists: unknown[] }) => board.lists.length)).toEqual([1, 1, 1, 1, 1, 1])
  expect(await costOf(forge, list)).toBe(few)
})

test('a project that moves to another group keeps the lists of its boards', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { url, group, owner } = source
  const { at, order } = await boardOf(source, ['own'])
  await owner.post(at, { label_id: (await labelIn({ url: group.url, owner }, 'above')).id })
  const { body: target } = await owner.post('/groups', { name: 'To', path: 'to' })
  await owner.put(`${url}/transfer`, { namespace: target.id })
  await forge.settle()
  expect(await order()).toEqual(['0 own', '1 above'])
  const names = (await owner.get(`${url}/labels`)).body.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['above', 'own'])
})

test('a group that leaves another loses the lists of its labels', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'groups')
  const { url, id, owner } = source
  const { at, order } = await boardOf(source, ['own'])
  const { body: above } = await owner.post('/groups', { name: 'Above', path: 'above' })
  const { db } = forge.app
  const ancestor = { namespace_id: id, ancestor_id: above.id, depth: 1 }
  await db.insertInto('namespace_ancestors').values(ancestor).execute()
  const label = await labelIn({ url: `/groups/${above.id}`, owner }, 'above')
  await owner.post(at, { label_id: label.id })
  expect(await order()).toEqual(['0 own', '1 above'])
  await db.deleteFrom('namespace_ancestors').where('ancestor_id', '=', above.id).where('depth', '=', 1).execute()
  expect(await order()).toEqual(['0 own'])
  const [board] = (await owner.get(`${url}/boards`)).body
  expect(board.lists).toHaveLength(1)
})
