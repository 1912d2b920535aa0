import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()

const tree = async ({ app: { db } }: TestForge) => [
  await db.selectFrom('namespaces').select(['id', 'parent_id', 'full_path', 'full_name']).orderBy('id').execute(),
  await db.selectFrom('namespace_ancestors').selectAll().orderBy('namespace_id').orderBy('ancestor_id').execute(),
]

/** `from/moved/deep` with a project inside, and `to`; all with one owner. */
async function twoTrees(forge: TestForge, visibility = 'private') {
  const owner = await forge.user()
  const make = async (path: string, more = {}) =>
    (await owner.post('/groups', { name: path.toUpperCase(), path, visibility, ...more })).body
  const from = await make('from')
  const moved = await make('moved', { parent_id: from.id })
  const deep = await make('deep', { parent_id: moved.id })
  const to = await make('to')
  const { body: project } = await owner.post('/projects', { name: 'Saw', namespace_id: deep.id, visibility })
  const sees = async (who: Person) => (await who.get(`/projects/${project.id}`)).status
  return { owner, from, moved, deep, to, project, sees }
}

test('a group moves with all below it: paths, old paths and people follow', async () => {
  await using forge = await startForge()
  const { owner, from, moved, deep, to, project, sees } = await twoTrees(forge)
  const [left, joined, stays] = [await forge.user(), await forge.user(), await forge.user()]
  await addMember(forge, { group_id: from.id }, left.id, 30)
  await addMember(forge, { group_id: to.id }, joined.id, 20)
  await addMember(forge, { group_id: moved.id }, stays.id, 20)
  expect([await sees(left), await sees(joined), await sees(stays)]).toEqual([200, 404, 200])
  const events = await forge.events()

  const answer = await owner.post(`/groups/${moved.id}/transfer`, { group_id: to.id })
  expect(answer).toMatchObject({
    status: 201,
    body: { id: moved.id, parent_id: to.id, full_path: 'to/moved', full_name: 'TO / MOVED' },
  })
  expect((await owner.get(`/groups/${deep.id}`)).body).toMatchObject({
    full_path: 'to/moved/deep',
    full_name: 'TO / MOVED / DEEP',
    parent_id: moved.id,
  })
  expect((await owner.get(`/projects/${project.id}`)).body.path_with_namespace).toBe('to/moved/deep/saw')
  expect([await sees(left), await sees(joined), await sees(stays)]).toEqual([404, 200, 200])
  const below = async (id: number) =>
    (await owner.get(`/groups/${id}/descendant_groups`)).body.map((one: { id: number }) => one.id)
  expect(await below(from.id)).toEqual([])
  expect(await below(to.id)).toEqual([deep.id, moved.id])
  expect(await forge.events()).toEqual([...events, 'group.transferred'])
  const redirects = await forge.app.db.selectFrom('redirects').select(['path', 'namespace_id']).execute()
  expect(redirects).toEqual([{ path: 'from/moved', namespace_id: moved.id }])
})

test('to the top level: the user who moved the group owns it when its owners stayed behind', async () => {
  await using forge = await startForge()
  const { owner, moved, deep, project } = await twoTrees(forge)
  await forge.app.db.deleteFrom('members').where('group_id', 'in', [moved.id, deep.id]).execute()
  expect((await owner.post(`/groups/${moved.id}/transfer`)).body).toMatchObject({ parent_id: null, full_path: 'moved' })
  expect((await owner.get(`/groups/${moved.id}/members`)).body).toMatchObject([{ id: owner.id, access_level: 50 }])
  expect((await owner.get(`/projects/${project.id}/access`)).body.access_level).toBe(50)
})

test('nothing is seen by more people than the group it came into, and its locks hold', async () => {
  await using forge = await startForge()
  const { owner, moved, deep, project, sees } = await twoTrees(forge, 'public')
  const stranger = await forge.user()
  const { body: closed } = await owner.post('/groups', { name: 'c', path: 'c', visibility: 'private' })
  await owner.put(`/groups/${closed.id}`, { share_with_group_lock: true })
  expect(await sees(stranger)).toBe(200)
  const { body } = await owner.post(`/groups/${moved.id}/transfer`, { group_id: closed.id })
  expect(body).toMatchObject({ visibility: 'private', share_with_group_lock: true })
  expect((await owner.get(`/groups/${deep.id}`)).body).toMatchObject({
    visibility: 'private',
    share_with_group_lock: true,
  })
  expect((await owner.get(`/projects/${project.id}`)).body.visibility).toBe('private')
  expect(await sees(stranger)).toBe(404)
})

test('shares with groups that now lie above end', async () => {
  await using forge = await startForge()
  const { owner, moved, deep, to, project } = await twoTrees(forge)
  await owner.post(`/projects/${project.id}/share`, { group_id: to.id, group_access: 30 })
  await owner.post(`/groups/${deep.id}/share`, { group_id: to.id, group_access: 30 })
  await owner.post(`/groups/${moved.id}/transfer`, { group_id: to.id })
  expect((await owner.get(`/projects/${project.id}`)).body.shared_with_groups).toEqual([])
  expect((await owner.get(`/groups/${deep.id}`)).body.shared_with_groups).toEqual([])
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const { owner, from, moved, deep, to } = await twoTrees(forge)
  const hidden = await groupOf(forge, 'hidden')
  const seen = await groupOf(forge, 'seen', { visibility: 'public' })
  await owner.post('/groups', { name: 'taken', path: 'moved', parent_id: to.id })
  const { body: narrow } = await owner.post('/groups', { name: 'narrow', path: 'narrow' })
  await owner.post('/projects', { path: 'moved', namespace_id: narrow.id })
  const events = await forge.events()
  const before = await tree(forge)
  const failed = (why: string) => ({ message: `Transfer failed: ${why}` })
  const taken = failed('The parent group already has a subgroup or a project with the same path.')
  const inside = failed('Cannot transfer group to one of its subgroup.')

  const refusals = [
    [moved, { group_id: from.id }, 400, failed('Group is already associated to the parent group.')],
    [from, {}, 400, failed('Group is already a root group.')],
    [moved, { group_id: deep.id }, 400, inside],
    [moved, { group_id: moved.id }, 400, inside],
    [moved, { group_id: to.id }, 400, taken],
    [moved, { group_id: narrow.id }, 400, taken],
    [moved, { group_id: hidden.id }, 404, { message: '404 Group Not Found' }],
    [moved, { group_id: 4_000_000 }, 404, { message: '404 Group Not Found' }],
    [moved, { group_id: seen.id }, 403, { message: '403 Forbidden' }],
  ] as const
  for (const [group, input, status, body] of refusals) {
    const answer = await owner.post(`/groups/${group.id}/transfer`, input)
    expect(answer, JSON.stringify(input)).toEqual({ status, body, headers })
  }
  await forge.administrator.put(`/users/${owner.id}`, { can_create_group: false })
  expect((await owner.post(`/groups/${moved.id}/transfer`)).status).toBe(403)
  expect(await tree(forge)).toEqual(before)
  expect((await forge.events()).filter((name) => name.startsWith('group'))).toEqual(
    events.filter((name) => name.startsWith('group')),
  )
})

test('a tree is never deeper than a group can be made', async () => {
  await using forge = await startForge()
  let parent = await groupOf(forge, 'g0')
  for (let n = 1; n <= 20; n++) parent = await groupOf(forge, `g${n}`, { parent_id: parent.id })
  const top = await groupOf(forge, 'top')
  await groupOf(forge, 'below', { parent_id: top.id })
  const { status } = await forge.administrator.post(`/groups/${top.id}/transfer`, { group_id: parent.id })
  expect(status).toBe(400)
})

test('locations are the groups one could move it into', async () => {
  await using forge = await startForge()
  const { owner, from, moved, deep, to, project } = await twoTrees(forge)
  const other = await groupOf(forge, 'other')
  await addMember(forge, { group_id: other.id }, owner.id, 40)
  const names = async (path: string, query = {}, who: Person = owner) =>
    (await who.get(path, query)).body.map((one: { full_path: string }) => one.full_path)

  expect(await names(`/groups/${moved.id}/transfer_locations`)).toEqual(['to'])
  expect(await names(`/groups/${deep.id}/transfer_locations`)).toEqual(['from', 'to'])
  expect(await names(`/groups/${deep.id}/transfer_locations`, { search: 'fro' })).toEqual(['from'])
  expect(await names(`/groups/${deep.id}/transfer_locations`, {}, forge.administrator)).toEqual(['from', 'other', 'to'])
  expect(await names(`/projects/${project.id}/transfer_locations`)).toEqual(['from', 'from/moved', 'other', 'to'])
  expect((await owner.get(`/groups/${moved.id}/transfer_locations`)).body).toEqual([
    {
      id: to.id,
      name: 'TO',
      web_url: `${forge.url}/groups/to`,
      avatar_url: null,
      full_name: 'TO',
      full_path: 'to',
    },
  ])
  expect(from.id).not.toBe(to.id)
})

test('the groups of a project: around it, and those it is shared with', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const a = await groupOf(forge, 'a', { visibility: 'public' })
  const b = await groupOf(forge, 'b', { parent_id: a.id, visibility: 'public' })
  const project = await projectIn(forge, b, 'p', { visibility: 'public' })
  const open = await groupOf(forge, 'open', { visibility: 'public' })
  const secret = await groupOf(forge, 'secret', { visibility: 'private' })
  const inherited = await groupOf(forge, 'inherited', { visibility: 'public' })
  await root.post(`/projects/${project.id}/share`, { group_id: open.id, group_access: 20 })
  await root.post(`/projects/${project.id}/share`, { group_id: secret.id, group_access: 40 })
  await root.post(`/groups/${a.id}/share`, { group_id: inherited.id, group_access: 30 })
  const member = await forge.user()
  await addMember(forge, { project_id: project.id }, member.id, 10)
  const paths = async (what: string, query = {}, who: Pick<Person, 'get'> = member) =>
    (await who.get(`/projects/${project.id}/${what}`, query)).body.map((one: { full_path: string }) => one.full_path)

  expect(await paths('groups')).toEqual(['a', 'a/b'])
  expect(await paths('groups', { with_shared: true })).toEqual(['a', 'a/b', 'open', 'secret'])
  expect(await paths('groups', { with_shared: true, shared_visible_only: true })).toEqual(['a', 'a/b', 'open'])
  expect(await paths('groups', { with_shared: true, shared_min_access_level: 30 })).toEqual(['a', 'a/b', 'secret'])
  expect(await paths('groups', { with_shared: true, skip_groups: [a.id], search: 'e' })).toEqual(['open', 'secret'])
  expect(await paths('groups', { with_shared: true }, forge.visitor)).toEqual(['a', 'a/b', 'open'])
  expect(await paths('invited_groups')).toEqual(['open', 'secret', 'inherited'])
  expect(await paths('invited_groups', { relation: 'direct' })).toEqual(['open', 'secret'])
  expect(await paths('invited_groups', { relation: 'inherited' })).toEqual(['inherited'])
  expect(await paths('invited_groups', { min_access_level: 30 })).toEqual(['secret', 'inherited'])
  expect(await paths('invited_groups', {}, forge.visitor)).toEqual(['open', 'inherited'])
})

test('the projects shared with a group are listed without its own', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const group = await groupOf(forge, 'group', { visibility: 'public' })
  await projectIn(forge, group, 'own', { visibility: 'public' })
  const other = await groupOf(forge, 'other', { visibility: 'public' })
  const open = await projectIn(forge, other, 'open', { visibility: 'public' })
  const secret = await projectIn(forge, other, 'secret', { visibility: 'private' })
  for (const { id } of [open, secret]) {
    await root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 30 })
  }
  const ids = async (who: Pick<Person, 'get'>, query = {}) =>
    (await who.get(`/groups/${group.id}/projects/shared`, query)).body.map((one: { id: number }) => one.id)
  expect(await ids(root)).toEqual([secret.id, open.id])
  expect(await ids(root, { search: 'secret' })).toEqual([secret.id])
  expect(await ids(forge.visitor)).toEqual([open.id])
})
