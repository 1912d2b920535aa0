import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PATH = '/groups'
const TAKEN = ['has already been taken']

const namespaces = ({ app }: TestForge) => app.db.selectFrom('namespaces').selectAll().orderBy('id').execute()
const redirects = ({ app }: TestForge) =>
  app.db.selectFrom('redirects').select(['path', 'namespace_id']).orderBy('path').execute()

test('an owner changes every attribute; what is absent stays', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { body: group } = await jane.post(PATH, { name: 'Tools', path: 'tools' })
  const change = {
    name: 'Kit',
    description: 'Loud',
    visibility: 'public',
    request_access_enabled: true,
    share_with_group_lock: true,
    membership_lock: true,
    lfs_enabled: false,
  }
  forge.clock.advance(1000)
  const { status, body } = await jane.put(`${PATH}/${group.id}`, { ...change, parent_id: 1 })
  expect([status, body]).toEqual([200, { ...group, ...change, full_name: 'Kit' }])
  expect((await jane.get(PATH)).body[0].lfs_enabled).toBe(false)
  expect((await jane.put(`${PATH}/tools`, {})).body).toEqual(body)
  expect((await jane.put(`${PATH}/tools`, { description: '' })).body).toEqual({ ...body, description: '' })
  expect(await redirects(forge)).toEqual([])

  const quota = { shared_runners_minutes_limit: 30 }
  expect((await jane.put(`${PATH}/tools`, quota)).status).toBe(200)
  const { administrator } = forge
  const limit = async () => (await administrator.get(`${PATH}/tools`)).body.shared_runners_minutes_limit
  expect(await limit()).toBeNull()
  expect((await administrator.put(`${PATH}/tools`, quota)).body).toMatchObject(quota)
  await jane.put(`${PATH}/tools`, { shared_runners_minutes_limit: '' })
  expect(await limit()).toBe(30)
  await administrator.put(`${PATH}/tools`, { shared_runners_minutes_limit: '' })
  expect(await limit()).toBeNull()
})

test('a new path or name moves everything below, and the old path leads to the new one', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const top = await groupOf(forge, 'tools', { name: 'Größe 𝒜' })
  const saws = await groupOf(forge, 'saws', { parent_id: top.id, name: 'Saws' })
  const hand = await groupOf(forge, 'tools', { parent_id: saws.id, name: 'Hand' })
  const beside = await groupOf(forge, 'tools-too')
  const project = await projectIn(forge, hand, 'fret')

  const moved = await administrator.put(`${PATH}/tools`, { path: 'kit', name: 'Kit' })
  expect(moved.body).toMatchObject({ full_path: 'kit', full_name: 'Kit', web_url: `${forge.url}/groups/kit` })
  expect((await administrator.get(`${PATH}/${saws.id}`)).body).toMatchObject({
    full_path: 'kit/saws',
    full_name: 'Kit / Saws',
  })
  expect((await administrator.get(`${PATH}/${hand.id}`)).body).toMatchObject({
    full_path: 'kit/saws/tools',
    full_name: 'Kit / Saws / Hand',
    projects: [{ path_with_namespace: 'kit/saws/tools/fret', name_with_namespace: 'Kit / Saws / Hand / fret' }],
  })
  expect((await administrator.get(`/projects/kit%2Fsaws%2Ftools%2Ffret`)).body.id).toBe(project.id)
  expect((await administrator.get(`${PATH}/${beside.id}`)).body.full_path).toBe('tools-too')
  // The web and git redirect to the new path; the API knows no old paths.
  expect((await administrator.get(`${PATH}/tools`)).status).toBe(404)
  expect(await redirects(forge)).toEqual([{ path: 'tools', namespace_id: top.id }])

  await administrator.put(`${PATH}/kit%2Fsaws`, { path: 'Blades' })
  expect((await administrator.get(`${PATH}/${hand.id}`)).body.full_path).toBe('kit/Blades/tools')
  expect(await redirects(forge)).toEqual([
    { path: 'kit/saws', namespace_id: saws.id },
    { path: 'tools', namespace_id: top.id },
  ])
  const event = forge.app.db.selectFrom('events').select('payload').where('name', '=', 'group.updated').orderBy('id')
  expect((await event.execute()).map(({ payload }) => JSON.parse(payload))).toEqual([
    { id: top.id, by: administrator.id, old_full_path: 'tools' },
    { id: saws.id, by: administrator.id, old_full_path: 'kit/saws' },
  ])
})

test('a redirect ends where something new stands, and another case is no other path', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const group = await groupOf(forge, 'tools')
  const child = await groupOf(forge, 'saws', { parent_id: group.id })
  await administrator.put(`${PATH}/tools`, { path: 'Tools' })
  expect((await administrator.get(`${PATH}/${child.id}`)).body.full_path).toBe('Tools/saws')
  expect(await redirects(forge)).toEqual([])

  await administrator.put(`${PATH}/tools`, { path: 'kit' })
  await administrator.put(`${PATH}/kit`, { path: 'tools' })
  expect(await redirects(forge)).toEqual([{ path: 'kit', namespace_id: group.id }])
  await groupOf(forge, 'KIT')
  expect(await redirects(forge)).toEqual([])
  await administrator.put(`${PATH}/tools%2Fsaws`, { path: 'blades' })
  expect(await redirects(forge)).toEqual([{ path: 'tools/saws', namespace_id: child.id }])
  await projectIn(forge, group, 'saws')
  expect(await redirects(forge)).toEqual([])
})

test('change refuses what is not valid, and changes nothing', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'Jane' })
  const create = async (request: Record<string, unknown>) => (await jane.post(PATH, request)).body
  const top = await create({ name: 'Tools', path: 'tools', visibility: 'internal' })
  const child = await create({ name: 'Saws', path: 'saws', parent_id: top.id, visibility: 'internal' })
  await create({ name: 'Axes', path: 'axes', parent_id: top.id })
  const other = await create({ name: 'Other', path: 'other', visibility: 'internal' })
  await projectIn(forge, top, 'Drill', { visibility: 'private' })
  await projectIn(forge, other, 'open', { visibility: 'internal' })
  await administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  const before = [await namespaces(forge), await forge.events()]
  const level = (...visibility_level: string[]) => ({ visibility_level })
  const restricted = 'public has been restricted by your administrator'
  const table: [number, Record<string, unknown>, unknown][] = [
    [top.id, { name: '' }, { name: ["can't be blank"] }],
    [top.id, { path: ' ' }, { path: ["can't be blank"] }],
    [top.id, { path: 'users' }, { path: ['users is a reserved name'] }],
    [child.id, { path: 'tree' }, { path: ['tree is a reserved name'] }],
    [child.id, { path: 'AXES' }, { path: TAKEN }],
    [child.id, { path: 'drill' }, { path: TAKEN }],
    [child.id, { name: 'Axes' }, { name: TAKEN }],
    [top.id, { path: 'jane' }, { path: TAKEN }],
    [top.id, { path: 'OTHER', description: 'kept' }, { path: TAKEN }],
    [top.id, { visibility: 'public' }, level(restricted)],
    [
      child.id,
      { visibility: 'public' },
      level(restricted, 'public is not allowed since the parent group has a internal visibility.'),
    ],
    [
      other.id,
      { visibility: 'private' },
      level('private is not allowed since this group contains projects with higher visibility.'),
    ],
    [
      top.id,
      { visibility: 'private' },
      level('private is not allowed since there are sub-groups with higher visibility.'),
    ],
  ]
  for (const [id, input, message] of table) {
    const { status, body } = await jane.put(`${PATH}/${id}`, input)
    expect([input, status, body.message]).toEqual([input, 400, message])
  }
  expect(await jane.put(`${PATH}/${top.id}`, { membership_lock: 'x' })).toMatchObject({
    status: 400,
    body: { error: 'membership_lock is invalid' },
  })
  expect([await namespaces(forge), await forge.events()]).toEqual(before)
  // A visibility that is restricted by now stays until it is changed.
  await administrator.put(`${PATH}/${top.id}`, { visibility: 'public' })
  expect((await jane.put(`${PATH}/${top.id}`, { visibility: 'public', description: 'x' })).status).toBe(200)
})

test('a share lock spreads to all below, voids shares there, and only the owner above lifts it below', async () => {
  await using forge = await startForge()
  const { administrator, app } = forge
  const top = await groupOf(forge, 'tools')
  const child = await groupOf(forge, 'saws', { parent_id: top.id })
  const lender = await groupOf(forge, 'lender')
  const project = await projectIn(forge, child, 'fret')
  const [guest, owner] = [await forge.user(), await forge.user()]
  await addMember(forge, { group_id: lender.id }, guest.id, 30)
  await addMember(forge, { group_id: child.id }, owner.id, 50)
  const now = new Date().toISOString()
  const link = { project_id: project.id, group_id: lender.id, group_access: 30, expires_at: null }
  await app.db
    .insertInto('project_shares')
    .values({ ...link, created_at: now, updated_at: now })
    .execute()
  const lock = (id: number, value: boolean, caller = administrator) =>
    caller.put(`${PATH}/${id}`, { share_with_group_lock: value })
  const locked = async (id: number) => (await administrator.get(`${PATH}/${id}`)).body.share_with_group_lock
  const reach = async () => (await guest.get(`/projects/${project.id}`)).status

  // Toggling recomputes access, so the share of the parent starts to count here.
  await lock(child.id, true)
  expect([await locked(top.id), await locked(child.id), await reach()]).toEqual([false, true, 404])
  expect((await lock(child.id, false, owner)).status).toBe(200)
  expect(await reach()).toBe(200)
  await lock(top.id, true)
  expect([await locked(child.id), await reach()]).toEqual([true, 404])

  const before = await forge.events()
  expect(await lock(child.id, false, owner)).toMatchObject({
    status: 400,
    body: {
      message: {
        share_with_group_lock: [
          'cannot be disabled when the parent group "Share with group lock" is enabled, except by the owner of the parent group',
        ],
      },
    },
  })
  expect([await locked(child.id), await forge.events()]).toEqual([true, before])
  await addMember(forge, { group_id: top.id }, owner.id, 50)
  expect((await lock(child.id, false, owner)).status).toBe(200)
  expect([await locked(top.id), await locked(child.id), await reach()]).toEqual([true, false, 200])
  await lock(child.id, true)
  await lock(top.id, false)
  expect([await locked(child.id), await reach()]).toEqual([true, 404])
})

test('who changes a group', async () => {
  await using forge = await startForge()
  const made = { closed: 'private', house: 'internal', open: 'public' }
  const ids: number[] = []
  for (const [path, visibility] of Object.entries(made)) ids.push((await groupOf(forge, path, { visibility })).id)
  const cast = await castFor(forge, ...ids)
  const members = [403, 403, 403, 403, 200, 200, 401]
  const change = (path: string) => statuses(cast, (caller) => caller.put(`${PATH}/${path}`, { description: 'x' }))
  expect(await change('closed')).toEqual([401, 404, 404, ...members])
  expect(await change('house')).toEqual([401, 403, 404, ...members])
  expect(await change('open')).toEqual([401, 403, 403, ...members])
  const events = (await forge.events()).filter((name) => name === 'group.updated')
  expect(events).toHaveLength(6)
})

test('renames and creations at the same time leave one whole tree', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const top = await groupOf(forge, 'tools')
  const child = await groupOf(forge, 'saws', { parent_id: top.id })
  const answers = await Promise.all([
    administrator.put(`${PATH}/${top.id}`, { path: 'kit' }),
    ...Array.from({ length: 4 }, (_, n) =>
      administrator.post(PATH, { name: `n${n}`, path: `n${n}`, parent_id: child.id }),
    ),
    administrator.put(`${PATH}/${child.id}`, { path: 'blades' }),
    ...Array.from({ length: 4 }, (_, n) =>
      administrator.post(PATH, { name: `m${n}`, path: `m${n}`, parent_id: child.id }),
    ),
  ])
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([200, 200, ...Array(8).fill(201)])
  const paths = (await namespaces(forge)).filter(({ kind }) => kind === 'group').map(({ full_path }) => full_path)
  const below = ['m', 'n'].flatMap((letter) => [0, 1, 2, 3].map((n) => `kit/blades/${letter}${n}`))
  expect(paths.toSorted()).toEqual(['kit', 'kit/blades', ...below])
})
