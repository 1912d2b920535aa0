import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PATH = '/groups'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Shares a project of the administrator with a group. */
async function share({ app }: TestForge, project: { id: number }, group: { id: number }): Promise<void> {
  const now = new Date().toISOString()
  await app.db
    .insertInto('project_shares')
    .values({
      project_id: project.id,
      group_id: group.id,
      group_access: 30,
      expires_at: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

test('the whole record, found by id and by path in any case', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const jane = await forge.user()
  const top = (await jane.post(PATH, { name: 'Tools', path: 'Tools', visibility: 'internal' })).body
  const { body } = await jane.post(PATH, {
    name: 'Saws',
    path: 'saws',
    parent_id: top.id,
    description: 'Sharp',
    visibility: 'internal',
    request_access_enabled: true,
    membership_lock: true,
  })
  const record = {
    id: body.id,
    name: 'Saws',
    path: 'saws',
    description: 'Sharp',
    visibility: 'internal',
    avatar_url: null,
    web_url: `${url}/groups/Tools/saws`,
    request_access_enabled: true,
    full_name: 'Tools / Saws',
    full_path: 'Tools/saws',
    parent_id: top.id,
    created_at: timestamp,
    share_with_group_lock: false,
    membership_lock: true,
    lfs_enabled: true,
    project_creation_level: 'maintainer',
    subgroup_creation_level: 'owner',
    require_two_factor_authentication: false,
    two_factor_grace_period: 48,
    emails_disabled: false,
    emails_enabled: true,
    auto_devops_enabled: null,
    marked_for_deletion_on: null,
    shared_runners_minutes_limit: null,
    projects: [],
    shared_with_groups: [],
    shared_projects: [],
  }
  for (const given of [body.id, 'Tools%2Fsaws', 'tools%2FSAWS']) {
    expect((await jane.get(`${PATH}/${given}`)).body).toEqual(record)
  }
  await administrator.put(`${PATH}/${body.id}`, { shared_runners_minutes_limit: 7 })
  for (const caller of [administrator, jane]) {
    const limited = (await caller.get(`${PATH}/${body.id}`)).body
    expect(limited).toEqual({ ...record, shared_runners_minutes_limit: 7 })
  }
  await administrator.put(`${PATH}/${body.id}`, { shared_runners_minutes_limit: '' })
  const { projects: _, shared_projects: __, ...bare } = record
  expect((await jane.get(`${PATH}/${body.id}`, { with_projects: false })).body).toEqual(bare)
})

test('projects and shared projects are those the viewer may see, archived ones too', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  const other = await groupOf(forge, 'lent', { visibility: 'public' })
  const open = await projectIn(forge, group, 'saw', { visibility: 'public' })
  const hidden = await projectIn(forge, group, 'drill')
  const lent = await projectIn(forge, other, 'ladder', { visibility: 'internal' })
  await share(forge, lent, group)
  await administrator.post(`/projects/${open.id}/archive`)
  const child = await groupOf(forge, 'child', { parent_id: group.id, visibility: 'public' })
  await projectIn(forge, child, 'nail', { visibility: 'public' })

  const member = await forge.user()
  await addMember(forge, { group_id: group.id }, member.id, 10)
  const stranger = await forge.user()
  const external = await forge.user({ external: true })
  const recordFor = async (caller: typeof visitor) => {
    const { body } = await caller.get(`${PATH}/${group.id}`)
    return [body.projects, body.shared_projects].map((all: { id: number }[]) => all.map((one) => one.id))
  }
  expect(await recordFor(visitor)).toEqual([[open.id], []])
  expect(await recordFor(external)).toEqual([[open.id], []])
  expect(await recordFor(stranger)).toEqual([[open.id], [lent.id]])
  expect(await recordFor(member)).toEqual([[hidden.id, open.id], [lent.id]])
  expect(await recordFor(administrator)).toEqual([[hidden.id, open.id], [lent.id]])

  const [full] = (await stranger.get(`${PATH}/${group.id}`)).body.projects
  expect(full).toMatchObject({ archived: true, visibility: 'public', namespace: { full_path: 'tools' } })
  expect(full).not.toHaveProperty('runners_token')
  const [simple] = (await visitor.get(`${PATH}/${group.id}`)).body.projects
  expect(simple).not.toHaveProperty('visibility')

  await forge.stopWorker()
  for (const { id } of [open, lent]) await administrator.delete(`/projects/${id}`)
  expect(await recordFor(administrator)).toEqual([[hidden.id], []])
})

test('a record shows at most a hundred projects, in a fixed number of queries', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const group = await groupOf(forge, 'tools')
  const first = await projectIn(forge, group, 'p0')
  await projectIn(forge, group, 'p1')
  const read = () => administrator.get(`${PATH}/${group.id}`)
  const few = await forge.queries(read)
  const { id: _, ...row } = await forge.app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow()
  const more = Array.from({ length: 110 }, (_, n) => ({
    ...row,
    name: `more ${n}`,
    path: `more-${n}`,
    disk_path: `more-${n}`,
    runners_token_digest: `digest ${n}`,
  }))
  for (let n = 0; n < more.length; n += 10) {
    await forge.app.db
      .insertInto('projects')
      .values(more.slice(n, n + 10))
      .execute()
  }
  expect(await forge.queries(read)).toBeLessThanOrEqual(few)
  const { projects } = (await read()).body
  expect([projects.length, projects[0].path]).toEqual([100, 'more-109'])
})

test('who reads what', async () => {
  await using forge = await startForge()
  const made = { closed: 'private', house: 'internal', open: 'public' }
  const ids: number[] = []
  for (const [path, visibility] of Object.entries(made)) ids.push((await groupOf(forge, path, { visibility })).id)
  const cast = await castFor(forge, ...ids)
  const yes = Array<number>(6).fill(200)
  const expected: [string, number[]][] = [
    ['closed', [404, 404, 404, ...yes, 401]],
    ['house', [404, 200, 404, ...yes, 401]],
    ['open', [200, 200, 200, ...yes, 401]],
    ['none', [404, 404, 404, ...Array<number>(6).fill(404), 401]],
    ['99999999999999999999999', [404, 404, 404, ...Array<number>(6).fill(404), 401]],
  ]
  for (const [path, table] of expected) {
    for (const more of ['', '/projects']) {
      expect([path + more, ...(await statuses(cast, (caller) => caller.get(`${PATH}/${path}${more}`)))]).toEqual([
        path + more,
        ...table,
      ])
    }
  }
  expect((await cast.stranger.get(`${PATH}/closed`)).body).toEqual({ message: '404 Group Not Found' })
  // Members of something inside also see the groups around it.
  const project = await projectIn(forge, { id: ids[0]! }, 'saw')
  await addMember(forge, { project_id: project.id }, cast.stranger.id, 10)
  expect((await cast.stranger.get(`${PATH}/closed`)).body.projects).toMatchObject([{ id: project.id }])
})

test('projects of a group: its own and those shared with it, of subgroups where asked', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  const child = await groupOf(forge, 'child', { parent_id: group.id, visibility: 'public' })
  const other = await groupOf(forge, 'lent', { visibility: 'public' })
  await projectIn(forge, group, 'saw', { visibility: 'public' })
  await projectIn(forge, group, 'drill')
  await projectIn(forge, child, 'nail', { visibility: 'public' })
  await share(forge, await projectIn(forge, other, 'ladder', { visibility: 'internal' }), group)
  const old = await projectIn(forge, group, 'old')
  await administrator.post(`/projects/${old.id}/archive`)
  const listed = async (caller: typeof visitor, filter: Record<string, unknown> = {}) =>
    (await caller.get(`${PATH}/tools/projects`, { order_by: 'path', sort: 'asc', ...filter })).body.map(
      (one: { path: string }) => one.path,
    )
  expect(await listed(administrator)).toEqual(['drill', 'ladder', 'saw'])
  expect(await listed(administrator, { with_shared: false })).toEqual(['drill', 'saw'])
  expect(await listed(administrator, { include_subgroups: true })).toEqual(['drill', 'ladder', 'nail', 'saw'])
  expect(await listed(administrator, { archived: true })).toEqual(['old'])
  expect(await listed(administrator, { search: 'rill' })).toEqual(['drill'])
  expect(await listed(administrator, { visibility: 'public' })).toEqual(['saw'])
  expect(await listed(await forge.user())).toEqual(['ladder', 'saw'])
  expect(await listed(visitor)).toEqual(['saw'])
  const [simple] = (await administrator.get(`${PATH}/tools/projects`, { simple: true })).body
  expect(simple).not.toHaveProperty('visibility')
  expect((await visitor.get(`${PATH}/tools/projects`)).headers.get('X-Total')).toBe('1')
})

test('an administrator moves a project into a group', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const [from, to] = [await groupOf(forge, 'from'), await groupOf(forge, 'to')]
  const project = await projectIn(forge, from, 'saw')
  const cast = await castFor(forge, from.id, to.id)
  const move = `${PATH}/to/projects/${project.id}`
  const { administrator: _, ...others } = cast
  for (const [who, caller] of Object.entries(others)) {
    const expected = who === 'anonymous' || who === 'blocked' ? 401 : 403
    expect([who, (await caller.post(move)).status]).toEqual([who, expected])
    // The administrator right is checked before any lookup.
    expect([who, (await caller.post(`${PATH}/none/projects/0`)).status]).toEqual([who, expected])
  }
  expect((await administrator.get(`/projects/${project.id}`)).body.path_with_namespace).toBe('from/saw')

  const moved = await administrator.post(move)
  expect(moved).toMatchObject({ status: 201, body: { full_path: 'to', projects: [{ path_with_namespace: 'to/saw' }] } })
  expect((await administrator.get(`${PATH}/from`)).body.projects).toEqual([])
  expect(await administrator.post(`${PATH}/from/projects/to%2Fsaw`)).toMatchObject({ status: 201 })

  const refusals: [string, number, unknown][] = [
    [`${PATH}/none/projects/${project.id}`, 404, { message: '404 Group Not Found' }],
    [`${PATH}/to/projects/0`, 404, { message: '404 Project Not Found' }],
    [
      `${PATH}/from/projects/${project.id}`,
      400,
      { message: 'Failed to transfer project {"new_namespace":["Transfer failed, please contact an admin."]}' },
    ],
  ]
  const before = await forge.events()
  for (const [path, status, body] of refusals) {
    expect(await administrator.post(path), path).toMatchObject({ status, body })
  }
  expect(await forge.events()).toEqual(before)
})
