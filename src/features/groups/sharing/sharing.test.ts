import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { costOf, openSource } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { purgeExpiredGroupShares } from './jobs.ts'

const headers: unknown = expect.anything()
const both = (text: string) => ({ message: text, error: text })

const sharesOf = (forge: TestForge) => forge.app.db.selectFrom('group_shares').selectAll().execute()

/** A group with a subgroup and a project, and another group with one developer. */
async function twoGroups(forge: TestForge) {
  const { id, url, owner } = await openSource(forge, 'groups')
  const { body: sub } = await owner.post('/groups', { name: 'Sub', path: 'sub', parent_id: id })
  const { body: project } = await owner.post('/projects', { name: 'Saw', namespace_id: sub.id })
  const guests = await openSource(forge, 'groups')
  const developer = await forge.user()
  await guests.owner.post(`${guests.url}/members`, { user_id: developer.id, access_level: 30 })
  // The user who shares must see the group they share with.
  await addMember(forge, { group_id: guests.id }, owner.id, 10)
  return { id, url, owner, sub, project, guests, developer }
}

test('a share lets the members of another group into all below, and its end sends them away', async () => {
  await using forge = await startForge()
  const { id, url, owner, sub, project, guests, developer } = await twoGroups(forge)
  const events = await forge.events()
  const reads = [url, `/groups/${sub.id}`, `/projects/${project.id}`]
  const statuses = async () => Promise.all(reads.map(async (read) => (await developer.get(read)).status))
  expect(await statuses()).toEqual([404, 404, 404])

  const shared = await owner.post(`${url}/share`, { group_id: guests.id, group_access: '20', expires_at: '2999-1-2' })
  const link = {
    group_id: guests.id,
    group_name: guests.title,
    group_full_path: guests.path.replace('/groups/', ''),
    group_access_level: 20,
    expires_at: '2999-01-02',
  }
  expect(shared).toMatchObject({ status: 201, body: { id, shared_with_groups: [link] } })
  expect((await developer.get(url)).body.shared_with_groups).toEqual([link])
  expect(await statuses()).toEqual([200, 200, 200])
  expect(await forge.events()).toEqual([...events, 'group.shared'])

  expect(await owner.delete(`${url}/share/${guests.id}`)).toMatchObject({ status: 204, body: '' })
  expect(await statuses()).toEqual([404, 404, 404])
  expect((await owner.get(url)).body.shared_with_groups).toEqual([])
  expect(await forge.events()).toEqual([...events, 'group.shared', 'group.unshared'])
  expect(await owner.delete(`${url}/share/${guests.id}`)).toMatchObject({
    status: 404,
    body: { message: '404 Group Link Not Found' },
  })
})

test('users with access through a share see the project in all lists, and are among its members', async () => {
  await using forge = await startForge()
  const { id, url, owner, sub, project, guests, developer } = await twoGroups(forge)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 40 })
  const ids = async (path: string, query = {}) =>
    new Set((await developer.get(path, query)).body.map((one: { id: number }) => one.id))

  expect(await ids('/projects', { membership: true })).toEqual(new Set([project.id]))
  expect(await ids('/projects', { min_access_level: 30 })).toEqual(new Set([project.id]))
  expect(await ids('/projects', { min_access_level: 40 })).toEqual(new Set())
  expect(await ids('/groups')).toEqual(new Set([id, sub.id, guests.id]))
  expect(await ids('/groups', { min_access_level: 30 })).toEqual(new Set([id, sub.id, guests.id]))
  expect(await ids('/groups', { min_access_level: 40 })).toEqual(new Set())
  expect((await developer.get(`/namespaces/${sub.id}`)).status).toBe(200)

  const level = { id: developer.id, access_level: 30 }
  for (const source of [url, `/groups/${sub.id}`, `/projects/${project.id}`]) {
    expect((await owner.get(`${source}/members/all`)).body).toContainEqual(expect.objectContaining(level))
    expect((await owner.get(`${source}/members/all/${developer.id}`)).body).toMatchObject(level)
    // They are members of the other group, not of this one.
    expect((await owner.get(`${source}/members/${developer.id}`)).status).toBe(404)
  }
  const { body: access } = await owner.get(`/projects/${project.id}/access`, { user_id: developer.id })
  expect(access).toMatchObject({ access_level: 30, readable: true })
  expect(access.rules).toContainEqual({
    rule: 'group_share',
    access_level: 30,
    counts: true,
    group: { id: guests.id, full_path: guests.path.replace('/groups/', '') },
    shared_group: { id, full_path: expect.any(String) },
    shared_with: { id: guests.id, full_path: guests.path.replace('/groups/', '') },
    group_access: 40,
    member_access_level: 30,
    expires_at: null,
  })
})

test('what the share and the membership change later counts at once, and shares lead no further', async () => {
  await using forge = await startForge()
  const { url, owner, project, guests, developer } = await twoGroups(forge)
  const third = await openSource(forge, 'groups')
  const far = await forge.user()
  await addMember(forge, { group_id: third.id }, far.id, 30)
  await addMember(forge, { group_id: third.id }, guests.owner.id, 10)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 40 })
  await guests.owner.post(`${guests.url}/share`, { group_id: third.id, group_access: 40 })
  const level = async (who: Person) =>
    (await owner.get(`/projects/${project.id}/access`, { user_id: who.id })).body.access_level
  const kept = async (who: Person) =>
    (await who.get(`/projects/${project.id}`)).status === 200 ? level(who) : 'hidden'

  expect(await kept(far)).toBe('hidden')
  expect((await far.get(guests.url)).status).toBe(200)
  expect(await kept(developer)).toBe(30)
  await guests.owner.put(`${guests.url}/members/${developer.id}`, { access_level: 20 })
  expect(await kept(developer)).toBe(20)
  const newcomer = await forge.user()
  await guests.owner.post(`${guests.url}/members`, { user_id: newcomer.id, access_level: 50 })
  expect(await kept(newcomer)).toBe(40)
  await guests.owner.delete(`${guests.url}/members/${developer.id}`)
  expect(await kept(developer)).toBe('hidden')
})

test('users with access through a share fetch and push with git at their level', async () => {
  await using forge = await startForge()
  const { url, owner, project, guests, developer } = await twoGroups(forge)
  await fillProject(forge, project.id)
  const address = `${forge.url}/${project.path_with_namespace}.git`
  const as = { as: developer }
  const push = () => forge.git(['push', address, 'HEAD:refs/heads/work'], as)
  await expect(forge.git(['ls-remote', address], as)).rejects.toThrow('not found')

  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 20 })
  await forge.git(['clone', '-q', address, '.'], as)
  await expect(push()).rejects.toThrow('not allowed to push')
  await owner.delete(`${url}/share/${guests.id}`)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 30 })
  await push()
  expect((await owner.get(`/projects/${project.id}/repository/branches/work`)).status).toBe(200)
  await owner.delete(`${url}/share/${guests.id}`)
  await expect(forge.git(['fetch', address], as)).rejects.toThrow('not found')
})

test('a branch can be kept for a group that the group around it is shared with', async () => {
  await using forge = await startForge()
  const { url, owner, project, guests } = await twoGroups(forge)
  const protect = () =>
    owner.post(`/projects/${project.id}/protected_branches`, {
      name: 'stable',
      allowed_to_push: [{ group_id: guests.id }],
    })
  expect((await protect()).status).toBe(422)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 30 })
  expect((await protect()).status).toBe(201)
})

test('a share by which somebody owns a group lets them act as its owner, but does not let its last owner leave', async () => {
  await using forge = await startForge()
  const { url, owner, guests } = await twoGroups(forge)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 50 })
  expect((await guests.owner.put(url, { description: 'ours too' })).status).toBe(200)
  expect((await owner.delete(`${url}/members/${owner.id}`)).status).toBe(403)
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const { url, owner, sub, guests } = await twoGroups(forge)
  const open = await openSource(forge, 'groups', { visibility: 'public' })
  const hidden = await openSource(forge, 'groups')
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 30 })
  const { body: own } = await owner.get('/namespaces', { search: owner.username })
  const before = [await sharesOf(forge), await forge.events()]
  const around = { message: 'Group cannot be shared with itself or one of its ancestors.' }
  const missing = { message: '404 Group Not Found' }
  const [here] = [Number(url.split('/')[2])]

  const refusals = [
    [url, { group_access: 30 }, 400, { message: '400 (Bad request) group_id not given', error: 'group_id is missing' }],
    [
      url,
      { group_id: open.id },
      400,
      { message: '400 (Bad request) group_access not given', error: 'group_access is missing' },
    ],
    [url, { group_id: open.id, group_access: 15 }, 400, both('group_access does not have a valid value')],
    [url, { group_id: open.id, group_access: 60 }, 400, both('group_access does not have a valid value')],
    [url, { group_id: open.id, group_access: 30, expires_at: 'soon' }, 400, both('expires_at is invalid')],
    [url, { group_id: 4_000_000, group_access: 30 }, 404, missing],
    [url, { group_id: hidden.id, group_access: 30 }, 404, missing],
    [url, { group_id: own[0].id, group_access: 30 }, 404, missing],
    [url, { group_id: here, group_access: 10 }, 409, around],
    [`/groups/${sub.id}`, { group_id: here, group_access: 10 }, 409, around],
    [
      url,
      { group_id: guests.id, group_access: 10 },
      409,
      { message: 'The group has already been shared with this group' },
    ],
  ] as const
  for (const [at, input, status, body] of refusals) {
    expect(await owner.post(`${at}/share`, input), JSON.stringify(input)).toEqual({ status, body, headers })
  }
  expect([await sharesOf(forge), await forge.events()]).toEqual(before)
})

test('a share ends on its day, and with either group', async () => {
  await using forge = await startForge()
  const { url, owner, project, guests, developer } = await twoGroups(forge)
  const sees = async () => (await developer.get(`/projects/${project.id}`)).status
  const day = new Date(forge.clock.now().getTime() + 2 * DAY).toISOString().slice(0, 10)
  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 30, expires_at: day })
  await purgeExpiredGroupShares.handle(forge.app, {})
  expect(await sees()).toBe(200)
  forge.clock.advance(2 * DAY)
  await purgeExpiredGroupShares.handle(forge.app, {})
  expect(await sees()).toBe(404)
  expect(await sharesOf(forge)).toEqual([])

  await owner.post(`${url}/share`, { group_id: guests.id, group_access: 30 })
  expect(await sees()).toBe(200)
  await guests.owner.delete(guests.url)
  expect(await sees()).toBe(404)
  expect(await sharesOf(forge)).toEqual([])
})

test('a private group is named to people of the group only', async () => {
  await using forge = await startForge()
  const group = await groupOf(forge, 'open', { visibility: 'public' })
  const secret = await groupOf(forge, 'secret', { visibility: 'private' })
  await forge.administrator.post(`/groups/${group.id}/share`, { group_id: secret.id, group_access: 30 })
  const member = await forge.user()
  await addMember(forge, { group_id: group.id }, member.id, 10)
  const shown = async (who: Pick<Person, 'get'>) =>
    (await who.get(`/groups/${group.id}`)).body.shared_with_groups.map((one: { group_id: number }) => one.group_id)
  expect(await shown(member)).toEqual([secret.id])
  expect(await shown(await forge.user())).toEqual([])
  expect(await shown(forge.visitor)).toEqual([])
})

test('the people of a group cost the same however many shares it has', async () => {
  await using forge = await startForge()
  const group = await groupOf(forge, 'group')
  await projectIn(forge, group, 'p')
  const cost = () => costOf(forge, () => forge.administrator.get(`/groups/${group.id}/members/all`))
  const share = async (n: number) => {
    const other = await groupOf(forge, `other${n}`)
    await addMember(forge, { group_id: other.id }, (await forge.user()).id, 30)
    await forge.administrator.post(`/groups/${group.id}/share`, { group_id: other.id, group_access: 30 })
  }
  await share(1)
  const one = await cost()
  for (let n = 2; n < 6; n++) await share(n)
  expect((await forge.administrator.get(`/groups/${group.id}/members/all`)).body).toHaveLength(6)
  expect(await cost()).toBe(one)
})
