import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

const PATH = '/namespaces'

interface Group {
  path: string
  name?: string
  parent?: { id: number; full_path: string }
}

async function insertGroup({ app }: TestForge, { path, name = path, parent }: Group) {
  const now = new Date().toISOString()
  const full_path = parent ? `${parent.full_path}/${path}` : path
  const at = { parent_id: parent?.id ?? null, owner_id: null, created_at: now, updated_at: now }
  return app.db
    .insertInto('namespaces')
    .values({ kind: 'group', name, path, full_path, ...at })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const paths = (body: { full_path: string }[]) => body.map((one) => one.full_path)

test('everybody sees their own namespace, administrators all of them', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'Jane' })
  const list = await jane.get(PATH)
  const { id } = list.body[0]
  const own = {
    id,
    name: 'Jane',
    path: 'Jane',
    kind: 'user',
    full_path: 'Jane',
    parent_id: null,
    avatar_url: null,
    web_url: `${forge.url}/Jane`,
  }
  expect(list).toMatchObject({ status: 200 })
  expect(list.body).toEqual([own])
  expect(list.headers.get('X-Total')).toBe('1')
  for (const given of [id, 'Jane', 'JANE']) expect((await jane.get(`${PATH}/${given}`)).body).toEqual(own)

  const group = await insertGroup(forge, { path: 'tools', name: 'Tools' })
  const child = await insertGroup(forge, { path: 'saws', parent: group })
  expect(paths((await administrator.get(PATH)).body)).toEqual(['root', 'Jane', 'tools', 'tools/saws'])
  expect((await administrator.get(`${PATH}/${encodeURIComponent('tools/saws')}`)).body).toEqual({
    id: child.id,
    name: 'saws',
    path: 'saws',
    kind: 'group',
    full_path: 'tools/saws',
    parent_id: group.id,
    avatar_url: null,
    web_url: `${forge.url}/groups/tools/saws`,
  })
  expect(paths((await administrator.get(PATH, { owned_only: true })).body)).toEqual(['root'])
  expect(paths((await administrator.get(PATH, { top_level_only: true })).body)).toEqual(['root', 'Jane', 'tools'])

  await administrator.put('/application/settings', { gravatar_enabled: true })
  expect((await jane.get(`${PATH}/${id}`)).body.avatar_url).toMatch(/^https:\/\/secure\.gravatar\.com\/avatar\//)
})

test('search finds parts of name and path from three characters on, whole paths below', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'jane' })
  await insertGroup(forge, { path: 'ab', name: 'Lumber Yard' })
  await insertGroup(forge, { path: 'abc%d' })
  const found = async (search: string) => paths((await administrator.get(PATH, { search })).body)
  expect(await found('umbe')).toEqual(['ab'])
  expect(await found('JAN')).toEqual(['jane'])
  expect(await found('AB')).toEqual(['ab'])
  expect(await found('ja')).toEqual([])
  expect(await found('c%d')).toEqual(['abc%d'])
  expect(await found('b"c')).toEqual([])
  expect(await found('')).toHaveLength(4)
  expect(paths((await jane.get(PATH, { search: 'lumber' })).body)).toEqual([])
  expect((await administrator.get(PATH, { search: 'umbe' })).headers.get('X-Total')).toBe('1')
})

test('tells whether a path is taken and proposes another', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await forge.user({ username: 'jane1' })
  const group = await insertGroup(forge, { path: 'tools' })
  await insertGroup(forge, { path: 'saws', parent: group })
  expect((await jane.get(`${PATH}/JANE/exists`)).body).toEqual({ exists: true, suggests: ['JANE2'] })
  expect((await jane.get(`${PATH}/john/exists`)).body).toEqual({ exists: false, suggests: [] })
  expect((await jane.get(`${PATH}/saws/exists`)).body).toEqual({ exists: false, suggests: [] })

  const inside = { parent_id: group.id }
  expect((await forge.administrator.get(`${PATH}/saws/exists`, inside)).body).toEqual({
    exists: true,
    suggests: ['saws1'],
  })
  // What a hidden parent holds is hidden too.
  for (const path of ['saws', 'none']) {
    expect(await jane.get(`${PATH}/${path}/exists`, inside)).toMatchObject({
      status: 404,
      body: { message: '404 Namespace Not Found' },
    })
  }
  expect(await jane.get(`${PATH}/saws/exists`, { parent_id: 'x' })).toMatchObject({
    status: 400,
    body: { error: 'parent_id is invalid' },
  })
})

test('who reaches what', async () => {
  await using forge = await startForge()
  const owner = await forge.user({ username: 'jane' })
  const { id } = (await owner.get(PATH)).body[0]
  const callers = [
    forge.visitor,
    await forge.user(),
    await forge.user({ external: true }),
    await forge.user({ blocked: true }),
    owner,
    forge.administrator,
  ]
  const expected: [path: string, statuses: number[]][] = [
    ['', [401, 200, 200, 401, 200, 200]],
    [`/${id}`, [401, 404, 404, 401, 200, 200]],
    ['/jane', [401, 404, 404, 401, 200, 200]],
    ['/nobody', [401, 404, 404, 401, 404, 404]],
    ['/99999999999999999999999', [401, 404, 404, 401, 404, 404]],
    ['/jane/exists', [401, 200, 200, 401, 200, 200]],
  ]
  for (const [path, statuses] of expected) {
    const answers = await Promise.all(callers.map((caller) => caller.get(PATH + path)))
    expect([path, ...answers.map((answer) => answer.status)]).toEqual([path, ...statuses])
    const hidden = answers.filter(({ status }) => status === 404)
    expect(hidden.map(({ body }) => body)).toEqual(hidden.map(() => ({ message: '404 Namespace Not Found' })))
  }
})

/** The least of three: the idle worker and the settings' short life add queries of their own now and then. */
async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  await forge.settle()
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}

test('the list is in pages and costs the same whatever its length', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  await forge.user()
  const few = await costOf(forge, () => administrator.get(PATH))
  for (let n = 0; n < 10; n++) await forge.user()
  expect(await costOf(forge, () => administrator.get(PATH))).toBe(few)

  const page = await administrator.get(PATH, { per_page: 5, page: 3 })
  expect(paths(page.body)).toEqual(['user10', 'user11'])
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'x-total': '12',
    'x-total-pages': '3',
    'x-prev-page': '2',
    'x-next-page': '',
  })
})
