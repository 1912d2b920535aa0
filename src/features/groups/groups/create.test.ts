import { expect, test } from 'vitest'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { PIXEL } from '../../../../test/samples.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { PATH_FORMAT_TEXT } from '../../../lib/files/paths.ts'

const PATH = '/groups'
const TAKEN = ['has already been taken']
const tooLong = ['is too long (maximum is 255 characters)']

const groups = async ({ app }: TestForge) =>
  app.db.selectFrom('namespaces').select('full_path').where('kind', '=', 'group').orderBy('id').execute()

test('the creator of a group owns it and reads the whole record back', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const request = {
    name: 'Power Tools – größer',
    path: 'power.tools',
    description: 'Loud',
    visibility: 'internal',
    request_access_enabled: true,
    share_with_group_lock: true,
    membership_lock: true,
    lfs_enabled: false,
    shared_runners_minutes_limit: 10,
  }
  const { status, body } = await jane.post(PATH, request)
  expect([status, body]).toEqual([
    201,
    {
      ...request,
      shared_runners_minutes_limit: null, // only administrators can set it
      project_creation_level: 'maintainer',
      subgroup_creation_level: 'owner',
      require_two_factor_authentication: false,
      two_factor_grace_period: 48,
      emails_disabled: false,
      emails_enabled: true,
      auto_devops_enabled: null,
      marked_for_deletion_on: null,
      id: body.id,
      avatar_url: null,
      web_url: `${forge.url}/groups/power.tools`,
      full_name: request.name,
      full_path: 'power.tools',
      parent_id: null,
      created_at: expect.any(String),
      projects: [],
      shared_with_groups: [],
      shared_projects: [],
    },
  ])
  expect((await jane.get(PATH, { owned: true })).body).toMatchObject([{ id: body.id, lfs_enabled: false }])
  expect((await jane.put(`${PATH}/${body.id}`, {})).status).toBe(200)
  const quota = async () => (await forge.administrator.get(`${PATH}/${body.id}`)).body.shared_runners_minutes_limit
  expect(await quota()).toBeNull()
  expect(await forge.events()).toEqual(['user.created', 'group.created', 'group.updated'])
  const made = await forge.administrator.post(PATH, { name: 'n', path: 'n', shared_runners_minutes_limit: 10 })
  expect(made.body.shared_runners_minutes_limit).toBe(10)
})

test('a subgroup stands in its parent, and takes the lock of it', async () => {
  await using forge = await startForge()
  const top = await groupOf(forge, 'tools', { name: 'Tools', visibility: 'public', share_with_group_lock: true })
  const made = await forge.administrator.post(PATH, { name: 'Saws', path: 'saws', parent_id: top.id })
  expect(made.body).toMatchObject({
    full_path: 'tools/saws',
    full_name: 'Tools / Saws',
    parent_id: top.id,
    visibility: 'private',
    share_with_group_lock: true,
  })
  // The same name and path are free in other parts of the tree.
  expect((await forge.administrator.post(PATH, { name: 'Saws', path: 'saws' })).status).toBe(201)
  const open = { name: 'Open', path: 'open', parent_id: top.id, share_with_group_lock: false }
  expect((await forge.administrator.post(PATH, open)).body.share_with_group_lock).toBe(false)
})

test('the instance says how visible a group is where nobody else does', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  await administrator.put('/application/settings', { default_group_visibility: 'public' })
  const top = await administrator.post(PATH, { name: 'a', path: 'a' })
  const inner = await groupOf(forge, 'inner', { parent_id: top.body.id, visibility: 'internal' })
  const below = await administrator.post(PATH, { name: 'b', path: 'b', parent_id: inner.id })
  expect([top.body.visibility, below.body.visibility]).toEqual(['public', 'internal'])
})

test('creation refuses what is not valid, and creates nothing', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'Jane' })
  const top = (await jane.post(PATH, { name: 'Tools', path: 'tools', visibility: 'internal' })).body
  const child = (await jane.post(PATH, { name: 'Saws', path: 'saws', parent_id: top.id })).body
  await projectIn(forge, top, 'Drill')
  await administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  const before = [await groups(forge), await forge.events()]
  const given = { name: 'New', path: 'new-one' }
  const inside = { ...given, parent_id: top.id }
  const nameText = "can contain only letters, digits, '_', '.', dash and space."
  const table: [Record<string, unknown>, number, unknown][] = [
    [{ path: 'x' }, 400, { message: '400 (Bad request) name not given', error: 'name is missing' }],
    [{ name: 'x' }, 400, { message: '400 (Bad request) path not given', error: 'path is missing' }],
    [{ name: ' ', path: '' }, 400, { message: { name: ["can't be blank"], path: ["can't be blank"] } }],
    [{ ...given, name: 'a/b' }, 400, { message: { name: [nameText] } }],
    [{ ...given, name: 'a'.repeat(256) }, 400, { message: { name: tooLong } }],
    [{ ...given, path: 'a'.repeat(256) }, 400, { message: { path: tooLong } }],
    [{ ...given, description: 'a'.repeat(256) }, 400, { message: { description: tooLong } }],
    [{ ...given, path: '-x' }, 400, { message: { path: [PATH_FORMAT_TEXT] } }],
    [{ ...given, path: 'x.git' }, 400, { message: { path: [PATH_FORMAT_TEXT] } }],
    [{ ...given, path: 'a/b' }, 400, { message: { path: [PATH_FORMAT_TEXT] } }],
    [{ ...given, path: 'Admin' }, 400, { message: { path: ['Admin is a reserved name'] } }],
    [{ ...inside, path: 'Labels' }, 400, { message: { path: ['Labels is a reserved name'] } }],
    [{ ...inside, path: 'wikis' }, 400, { message: { path: ['wikis is a reserved name'] } }],
    [{ ...given, name: 'Tools' }, 400, { message: { name: TAKEN } }],
    [{ ...inside, name: 'Saws' }, 400, { message: { name: TAKEN } }],
    [{ ...given, path: 'TOOLS' }, 400, { message: { path: TAKEN } }],
    [{ ...given, path: 'jane' }, 400, { message: { path: TAKEN } }],
    [{ ...inside, path: 'SAWS' }, 400, { message: { path: TAKEN } }],
    [{ ...inside, path: 'drill' }, 400, { message: { path: TAKEN } }],
    [{ ...given, visibility: 'secret' }, 400, { error: 'visibility does not have a valid value' }],
    [
      { ...given, visibility: 'public' },
      400,
      { message: { visibility_level: ['public has been restricted by your administrator'] } },
    ],
    [
      { ...inside, parent_id: child.id, visibility: 'internal' },
      400,
      { message: { visibility_level: ['internal is not allowed since the parent group has a private visibility.'] } },
    ],
    [{ ...given, parent_id: 'x' }, 400, { error: 'parent_id is invalid' }],
    [{ ...given, parent_id: 999 }, 404, { message: '404 Group Not Found' }],
    // A personal namespace is no group.
    [{ ...given, parent_id: 1 }, 404, { message: '404 Group Not Found' }],
  ]
  for (const [input, status, body] of table) {
    const answer = await jane.post(PATH, input)
    expect([input, answer.status, answer.body]).toEqual([input, status, expect.objectContaining(body as object)])
  }
  const limit = async (value: number) =>
    (await administrator.post(PATH, { ...given, shared_runners_minutes_limit: value })).body.message
  expect(await limit(-1)).toEqual({ shared_runners_minutes_limit: ['must be greater than or equal to 0'] })
  expect(await limit(2 ** 31)).toEqual({
    shared_runners_minutes_limit: ['must be less than or equal to 2147483647'],
  })
  expect([await groups(forge), await forge.events()]).toEqual(before)
  // The restriction does not apply to administrators.
  expect((await administrator.post(PATH, { ...given, visibility: 'public' })).status).toBe(201)
})

test('a group has at most twenty groups above it', async () => {
  await using forge = await startForge()
  let parent = await groupOf(forge, 'g0')
  for (let n = 1; n <= 20; n++) parent = await groupOf(forge, `g${n}`, { parent_id: parent.id })
  expect(parent.full_path.split('/')).toHaveLength(21)
  const before = await groups(forge)
  expect(await forge.administrator.post(PATH, { name: 'x', path: 'x', parent_id: parent.id })).toMatchObject({
    status: 400,
    body: { message: { parent_id: ['has too deep level of nesting'] } },
  })
  expect(await groups(forge)).toEqual(before)
})

test('who creates a group at the top, and in another group', async () => {
  await using forge = await startForge()
  const made = { closed: 'private', house: 'internal', open: 'public' }
  const ids: number[] = []
  for (const [path, visibility] of Object.entries(made)) ids.push((await groupOf(forge, path, { visibility })).id)
  const cast = await castFor(forge, ...ids)
  let number = 0
  const create = (more: Record<string, unknown>) => (caller: typeof forge.visitor) =>
    caller.post(PATH, { name: `New ${++number}`, path: `new-${number}`, visibility: 'private', ...more })
  const members = [403, 403, 403, 403, 201, 201, 401]
  expect(await statuses(cast, create({ parent_id: ids[0] }))).toEqual([401, 404, 404, ...members])
  expect(await statuses(cast, create({ parent_id: ids[1] }))).toEqual([401, 403, 404, ...members])
  expect(await statuses(cast, create({ parent_id: ids[2] }))).toEqual([401, 403, 403, ...members])
  // External users may not create groups, and neither may users with `can_create_group: false`.
  expect(await statuses(cast, create({}))).toEqual([401, 201, 403, 201, 201, 201, 201, 201, 201, 401])
  const barred = await forge.user({ can_create_group: false })
  const before = [await groups(forge), await forge.events()]
  expect(await barred.post(PATH, { name: 'x', path: 'x' })).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden' },
  })
  expect([await groups(forge), await forge.events()]).toEqual(before)
})

test('of many who want the same path at once one gets it, and of many who want the same name too', async () => {
  await using forge = await startForge()
  const top = await groupOf(forge, 'tools')
  const { administrator } = forge
  const messageOf = ({ status, body }: { status: number; body: { message?: unknown } }) => [status, body.message]
  const outcome = async (calls: Promise<{ status: number; body: { message?: unknown } }>[]) =>
    (await Promise.all(calls)).map(messageOf).sort(([a], [b]) => Number(a) - Number(b))
  const refused = (fault: object) => Array(7).fill([400, fault])

  const samePath = Array.from({ length: 8 }, (_, n) => ({ name: `n${n}`, path: n % 2 ? 'Same' : 'same' }))
  expect(await outcome(samePath.map((request) => administrator.post(PATH, request)))).toEqual([
    [201, undefined],
    ...refused({ path: TAKEN }),
  ])
  const sameName = Array.from({ length: 8 }, (_, n) => ({ name: 'One', path: `p${n}`, parent_id: top.id }))
  expect(await outcome(sameName.map((request) => administrator.post(PATH, request)))).toEqual([
    [201, undefined],
    ...refused({ name: TAKEN }),
  ])
  const mixed = await Promise.all([
    administrator.post(PATH, { name: 'mixed', path: 'mixed', parent_id: top.id }),
    administrator.post('/projects', { path: 'mixed', namespace_id: top.id }),
    administrator.post(PATH, { name: 'mixed', path: 'Mixed', parent_id: top.id }),
  ])
  expect(mixed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400])
  const users = await Promise.all([
    administrator.post(PATH, { name: 'jane', path: 'jane' }),
    administrator.post('/users', { username: 'Jane', name: 'Jane', email: 'j@example.com', password: 'correct horse' }),
  ])
  expect(users.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(users.every(({ status }) => status < 500)).toBe(true)
})

test('an avatar comes with the group; what is no image is refused with it', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const form = (bytes: Uint8Array<ArrayBuffer>, path: string) => {
    const data = new FormData()
    for (const [name, value] of Object.entries({ name: path, path })) data.set(name, value)
    data.set('avatar', new Blob([bytes]), 'our face.png')
    return data
  }
  const { status, body } = await administrator.post(PATH, form(new Uint8Array(PIXEL), 'tools'))
  expect([status, body.avatar_url]).toEqual([201, `${url}/uploads/-/system/group/avatar/${body.id}/our_face.png`])
  const read = (caller = administrator) => fetch(body.avatar_url, { headers: caller.headers })
  expect(new Uint8Array(await (await read()).arrayBuffer())).toEqual(new Uint8Array(PIXEL))
  expect((await read(await forge.user())).status).toBe(404)

  expect(await administrator.post(PATH, form(new TextEncoder().encode('<svg/>'), 'other'))).toMatchObject({
    status: 400,
    body: { message: { avatar: ['only images allowed'] } },
  })
  expect(await groups(forge)).toEqual([{ full_path: 'tools' }])
  expect((await administrator.put(`${PATH}/${body.id}`, { avatar: '' })).body.avatar_url).toBeNull()
  expect((await read()).status).toBe(404)
})
