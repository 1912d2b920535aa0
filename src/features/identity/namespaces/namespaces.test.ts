import { expect, test } from 'vitest'
import { costOf } from '../../../../test/sources.ts'
import { startForge, type Person } from '../../../forge.ts'

const PATH = '/namespaces'

async function makeGroup(owner: Person, path: string, more: Record<string, unknown> = {}) {
  const { status, body } = await owner.post('/groups', { name: path, path, ...more })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as { id: number; full_path: string }
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

  const group = await makeGroup(administrator, 'tools', { name: 'Tools' })
  const child = await makeGroup(administrator, 'saws', { parent_id: group.id })
  expect(paths((await administrator.get(PATH)).body)).toEqual(['root', 'Jane', 'tools', 'tools/saws'])
  expect((await administrator.get(`${PATH}/${encodeURIComponent('tools/saws')}`)).body).toEqual({
    id: child.id,
    name: 'saws',
    path: 'saws',
    kind: 'group',
    full_path: 'tools/saws',
    parent_id: group.id,
    members_count_with_descendants: 1,
    avatar_url: null,
    web_url: `${forge.url}/groups/tools/saws`,
  })
  expect(paths((await administrator.get(PATH, { owned_only: true })).body)).toEqual(['root', 'tools', 'tools/saws'])
  expect(paths((await administrator.get(PATH, { top_level_only: true })).body)).toEqual(['root', 'Jane', 'tools'])

  await administrator.put('/application/settings', { gravatar_enabled: true })
  expect((await jane.get(`${PATH}/${id}`)).body.avatar_url).toMatch(/^https:\/\/secure\.gravatar\.com\/avatar\//)
})

test('search finds parts of name and path, however short', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'jane' })
  await makeGroup(administrator, 'ab', { name: 'Lumber Yard' })
  await makeGroup(administrator, 'abc_d')
  const found = async (search: string) => paths((await administrator.get(PATH, { search })).body)
  expect(await found('umbe')).toEqual(['ab'])
  expect(await found('JAN')).toEqual(['jane'])
  expect(await found('AB')).toEqual(['ab', 'abc_d'])
  expect(await found('ja')).toEqual(['jane'])
  expect(await found('_')).toEqual(['abc_d'])
  expect(await found('c_d')).toEqual(['abc_d'])
  expect(await found('b%d')).toEqual([])
  expect(await found('b"c')).toEqual([])
  expect(await found('')).toHaveLength(4)
  expect(paths((await jane.get(PATH, { search: 'lumber' })).body)).toEqual([])
  expect((await administrator.get(PATH, { search: 'umbe' })).headers.get('X-Total')).toBe('1')
})

test('tells whether a path is taken and proposes another', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await forge.user({ username: 'jane1' })
  const group = await makeGroup(forge.administrator, 'tools')
  await makeGroup(forge.administrator, 'saws', { parent_id: group.id })
  await forge.administrator.post('/projects', { name: 'saws1', namespace_id: group.id })
  expect((await jane.get(`${PATH}/JANE/exists`)).body).toEqual({ exists: true, suggests: ['JANE2'] })
  expect((await jane.get(`${PATH}/john/exists`)).body).toEqual({ exists: false, suggests: [] })
  expect((await jane.get(`${PATH}/saws/exists`)).body).toEqual({ exists: false, suggests: [] })

  const inside = { parent_id: group.id }
  expect((await forge.administrator.get(`${PATH}/saws/exists`, inside)).body).toEqual({
    exists: true,
    suggests: ['saws2'],
  })
  // Projects and subgroups share one set of paths.
  expect((await forge.administrator.get(`${PATH}/SAWS1/exists`, inside)).body.exists).toBe(true)
  expect((await forge.administrator.get(`${PATH}/saws1/exists`)).body.exists).toBe(false)
  // The contents of a hidden parent are hidden too.
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

test('people see groups they are direct members of, and may read those they inherit', async () => {
  await using forge = await startForge()
  const owner = await forge.user({ username: 'owner' })
  const [guest, inside] = [await forge.user({ username: 'guest' }), await forge.user({ username: 'inside' })]
  const tools = await makeGroup(owner, 'tools', { visibility: 'public' })
  const saws = await makeGroup(owner, 'saws', { parent_id: tools.id })
  const other = await makeGroup(owner, 'other', { visibility: 'public' })
  const add = (group: number, user: Person, access_level: number) =>
    owner.post(`/groups/${group}/members`, { user_id: user.id, access_level })
  await owner.delete(`/groups/${saws.id}/members/${owner.id}`)
  await add(tools.id, guest, 10)
  await add(saws.id, inside, 40)
  await add(saws.id, guest, 20)

  const list = async (person: Person, filter = {}) => paths((await person.get(PATH, filter)).body)
  expect(await list(owner)).toEqual(['owner', 'tools', 'other'])
  expect(await list(guest)).toEqual(['guest', 'tools', 'tools/saws'])
  expect(await list(inside)).toEqual(['inside', 'tools/saws'])
  expect(await list(guest, { search: 'saw' })).toEqual(['tools/saws'])
  expect(await list(guest, { top_level_only: true })).toEqual(['guest', 'tools'])
  expect(await list(guest, { owned_only: true })).toEqual(['guest'])
  expect(await list(owner, { owned_only: true })).toEqual(['owner', 'tools', 'other'])
  expect((await guest.get(PATH)).headers.get('X-Total')).toBe('3')

  const shown = async (person: Person, id: number) => {
    const { status, body } = await person.get(`${PATH}/${id}`)
    return [status, body.members_count_with_descendants]
  }
  // Owners of the group or an ancestor see the number of members.
  expect(await shown(owner, tools.id)).toEqual([200, 3])
  expect(await shown(owner, saws.id)).toEqual([200, 2])
  expect(await shown(forge.administrator, tools.id)).toEqual([200, 3])
  expect(await shown(guest, tools.id)).toEqual([200, undefined])
  expect(await shown(inside, saws.id)).toEqual([200, undefined])
  expect(await shown(inside, tools.id)).toEqual([404, undefined])
  expect(await shown(guest, other.id)).toEqual([404, undefined])
  const counts = (await owner.get(PATH)).body.map((one: Record<string, unknown>) => one.members_count_with_descendants)
  expect(counts).toEqual([undefined, 3, 1])

  await forge.app.db.updateTable('namespaces').set({ avatar_filename: 'a b.png' }).where('id', '=', tools.id).execute()
  expect((await guest.get(`${PATH}/tools`)).body.avatar_url).toBe(
    `${forge.url}/uploads/-/system/group/avatar/${tools.id}/a%20b.png`,
  )
  // A namespace that is being deleted is hidden from everybody.
  await forge.app.db.updateTable('namespaces').set({ deleting: true }).where('id', '=', other.id).execute()
  expect((await forge.administrator.get(`${PATH}/other`)).status).toBe(404)
  expect(await list(forge.administrator)).not.toContain('other')
  expect(await list(owner)).toEqual(['owner', 'tools'])
  expect((await owner.get(`${PATH}/other/exists`)).body.exists).toBe(true)
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

test('the list is in pages and costs the same whatever its length', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'jane' })
  await makeGroup(jane, 'group0')
  const costs = async () => [
    await costOf(forge, () => administrator.get(PATH)),
    await costOf(forge, () => jane.get(PATH)),
  ]
  const few = await costs()
  for (let n = 1; n <= 10; n++) await makeGroup(jane, `group${n}`)
  expect(await costs()).toEqual(few)

  const page = await administrator.get(PATH, { per_page: 5, page: 3 })
  expect(paths(page.body)).toEqual(['group8', 'group9', 'group10'])
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'x-total': '13',
    'x-total-pages': '3',
    'x-prev-page': '2',
    'x-next-page': '',
  })
})
