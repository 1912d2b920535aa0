import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { transact } from '../../../store/transact.ts'
import { isGroupOf, levelInGroup, levelOnProject } from './queries.ts'
import { refreshAuthorizations } from './service.ts'

/** Reproducible random numbers. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** The roles computed independently: for each user and project the highest level of all memberships and shares. */
async function expectedLevels({ app: { db } }: TestForge): Promise<string[]> {
  const users = await db.selectFrom('users').select('id').execute()
  const projects = await db.selectFrom('projects').selectAll().execute()
  const members = await db.selectFrom('members').selectAll().execute()
  const shares = await db.selectFrom('project_shares').selectAll().execute()
  const groupShares = await db.selectFrom('group_shares').selectAll().execute()
  const rows = await db.selectFrom('namespaces').selectAll().execute()
  const namespaces = new Map(rows.map((row) => [row.id, row]))

  const levelThere = (user: number, group: number): number => {
    const own = members.find((one) => one.group_id === group && one.user_id === user)?.access_level ?? 0
    const above = namespaces.get(group)!.parent_id
    return above === null ? own : Math.max(own, levelThere(user, above))
  }
  /** The level that shares of the group and of its ancestors give the user. */
  const levelShared = (user: number, group: number): number => {
    const here = groupShares.filter((share) => share.group_id === group)
    const levels = here.map((share) => Math.min(share.group_access, levelThere(user, share.shared_with_group_id)))
    const above = namespaces.get(group)!.parent_id
    return Math.max(0, ...levels, above === null ? 0 : levelShared(user, above))
  }
  const levelOn = (user: number, project: (typeof projects)[number]): number => {
    const home = namespaces.get(project.namespace_id)!
    const levels = [home.owner_id === user ? 50 : 0, levelThere(user, home.id), levelShared(user, home.id)]
    for (const one of members) if (one.project_id === project.id && one.user_id === user) levels.push(one.access_level)
    for (const share of home.share_with_group_lock ? [] : shares) {
      if (share.project_id === project.id) levels.push(Math.min(share.group_access, levelThere(user, share.group_id)))
    }
    return Math.max(...levels)
  }
  return users
    .flatMap(({ id }) => projects.map((project) => [id, project.id, levelOn(id, project)] as const))
    .filter(([, , level]) => level > 0)
    .map(([user, project, level]) => `user ${user} on ${project}: ${level}`)
    .sort()
}

async function keptLevels({ app: { db } }: TestForge): Promise<string[]> {
  const rows = await db.selectFrom('project_authorizations').selectAll().execute()
  return rows.map((row) => `user ${row.user_id} on ${row.project_id}: ${row.access_level}`).sort()
}

/** Random operations on existing records that change access. */
function inputs(forge: TestForge, people: Person[], random: (sides: number) => number) {
  const { administrator: root, app } = forge
  const any = <T>(list: readonly T[]): T => list[random(list.length)]!
  const groups = async () =>
    app.db.selectFrom('namespaces').selectAll().where('kind', '=', 'group').orderBy('id').execute()
  const aGroup = async () => any(await groups()).id
  const aProject = async () => any(await app.db.selectFrom('projects').select('id').orderBy('id').execute()).id
  const aPerson = () => any(people).id
  const level = (most: number) => (1 + random(most)) * 10
  let made = 0
  return {
    joinGroup: async () =>
      root.post(`/groups/${await aGroup()}/members`, { user_id: aPerson(), access_level: level(5) }),
    changeInGroup: async () => root.put(`/groups/${await aGroup()}/members/${aPerson()}`, { access_level: level(5) }),
    leaveGroup: async () => root.delete(`/groups/${await aGroup()}/members/${aPerson()}`),
    joinProject: async () =>
      root.post(`/projects/${await aProject()}/members`, { user_id: aPerson(), access_level: level(4) }),
    changeInProject: async () =>
      root.put(`/projects/${await aProject()}/members/${aPerson()}`, { access_level: level(4) }),
    leaveProject: async () => root.delete(`/projects/${await aProject()}/members/${aPerson()}`),
    share: async () =>
      root.post(`/projects/${await aProject()}/share`, { group_id: await aGroup(), group_access: level(4) }),
    unshare: async () => {
      const shares = await app.db.selectFrom('project_shares').selectAll().orderBy('id').execute()
      const share = shares.length === 0 ? { project_id: 0, group_id: 0 } : any(shares)
      return root.delete(`/projects/${share.project_id}/share/${share.group_id}`)
    },
    shareGroup: async () =>
      root.post(`/groups/${await aGroup()}/share`, { group_id: await aGroup(), group_access: level(5) }),
    unshareGroup: async () => {
      const shares = await app.db.selectFrom('group_shares').selectAll().orderBy('id').execute()
      const share = shares.length === 0 ? { group_id: 0, shared_with_group_id: 0 } : any(shares)
      return root.delete(`/groups/${share.group_id}/share/${share.shared_with_group_id}`)
    },
    lock: async () => root.put(`/groups/${await aGroup()}`, { share_with_group_lock: random(3) === 0 }),
    transfer: async () => root.post(`/groups/${await aGroup()}/projects/${await aProject()}`),
    transferGroup: async () =>
      root.post(`/groups/${await aGroup()}/transfer`, random(4) > 0 ? { group_id: await aGroup() } : {}),
    createInGroup: async () => root.post('/projects', { path: `p${++made}`, namespace_id: await aGroup() }),
    createForUser: async () => root.post(`/projects/user/${aPerson()}`, { name: `p${++made}` }),
    createSubgroup: async () => {
      const path = `g${++made}`
      return root.post('/groups', { name: path, path, ...(random(4) > 0 && { parent_id: await aGroup() }) })
    },
    deleteProject: async () => (random(3) ? { status: 304 } : root.delete(`/projects/${await aProject()}`)),
    deleteGroup: async () => {
      const all = await groups()
      const isLeaf = (id: number) => all.every((one) => one.parent_id !== id)
      const leaf = all.find(({ id }) => isLeaf(id))
      return all.length < 8 || random(3) ? { status: 304 } : root.delete(`/groups/${leaf!.id}`)
    },
  }
}

test('after any change the kept levels are what the memberships and shares come to', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const random = dice(20_261)
  const people = [await forge.user(), await forge.user(), await forge.user(), await forge.user({ external: true })]
  const a = await groupOf(forge, 'a')
  const b = await groupOf(forge, 'b', { parent_id: a.id })
  await groupOf(forge, 'c', { parent_id: b.id })
  await projectIn(forge, b, 'first')
  await projectBy(people[0]!, 'second')

  const input = inputs(forge, people, random)
  const names = Object.keys(input) as (keyof typeof input)[]
  const done: Partial<Record<string, number>> = {}
  for (let step = 0; step < 300; step++) {
    const name = names[random(names.length)]!
    const { status } = await input[name]()
    expect(status, name).toBeLessThan(500)
    if (status < 300) done[name] = (done[name] ?? 0) + 1
    if (name.startsWith('delete')) await forge.settle()
    const kept = await keptLevels(forge)
    expect(kept, `${step}: ${name}`).toEqual(await expectedLevels(forge))

    if (step % 10 > 0) continue
    const person = people[random(people.length)]!
    const ids = await app.db.selectFrom('projects').select('id').orderBy('id').execute()
    const { id } = ids[random(ids.length)]!
    const { body } = await root.get(`/projects/${id}/access`, { user_id: person.id })
    const level = kept.find((one) => one.startsWith(`user ${person.id} on ${id}:`))?.split(': ')[1] ?? 0
    expect(body.access_level, `${step}: ${name}`).toBe(Number(level))
  }
  // Each kind of operation succeeded at least once.
  for (const name of names) expect(done[name], name).toBeGreaterThan(0)
}, 120_000)

test('one person, one project or one group can be worked out alone; nobody else is touched', async () => {
  await using forge = await startForge()
  const { app } = forge
  const [one, two] = [await forge.user(), await forge.user()]
  const group = await groupOf(forge, 'group')
  const elsewhere = await groupOf(forge, 'elsewhere')
  const inside = await projectIn(forge, group, 'inside')
  const outside = await projectIn(forge, elsewhere, 'outside')
  for (const { id } of [one, two]) {
    for (const group_id of [group.id, elsewhere.id]) await addMember(forge, { group_id }, id, 30)
  }
  const all = await keptLevels(forge)
  const refreshed = async (reach: Parameters<typeof refreshAuthorizations>[1]) => {
    await app.db.deleteFrom('project_authorizations').execute()
    await transact(app, (app) => refreshAuthorizations(app, reach))
    return keptLevels(forge)
  }
  const of = (user: number, project: number) => `user ${user} on ${project}: 30`
  expect(await refreshed({ users: [one.id] })).toEqual([of(one.id, inside.id), of(one.id, outside.id)].sort())
  expect(await refreshed({ users: [one.id], group: group.id })).toEqual([of(one.id, inside.id)])
  expect(await refreshed({ users: [], group: group.id })).toEqual([])
  expect(await refreshed({ project: outside.id })).toEqual(all.filter((row) => row.includes(`on ${outside.id}:`)))
  expect(await refreshed({ group: group.id })).toEqual(all.filter((row) => row.includes(`on ${inside.id}:`)))
})

test('blocked people keep their memberships and have nothing of them; administrators have everything', async () => {
  await using forge = await startForge()
  const { app } = forge
  const person = await forge.user()
  const group = await groupOf(forge, 'group')
  const sub = await groupOf(forge, 'sub', { parent_id: group.id })
  const project = await projectIn(forge, sub, 'p')
  await addMember(forge, { group_id: group.id }, person.id, 30)
  const accessOf = async (id: number) => {
    const user = await app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    return [
      await levelOnProject(app.db, user, project.id),
      await levelInGroup(app.db, user, sub.id),
      await isGroupOf(app.db, user, group.id),
    ]
  }
  expect(await accessOf(person.id)).toEqual([30, 30, true])
  await forge.administrator.post(`/users/${person.id}/block`)
  expect(await accessOf(person.id)).toEqual([0, 0, false])
  await forge.administrator.post(`/users/${person.id}/unblock`)
  expect(await accessOf(person.id)).toEqual([30, 30, true])
  const other = await forge.user({ admin: true })
  expect(await accessOf(other.id)).toEqual([50, 50, true])
  expect(await levelOnProject(app.db, null, project.id)).toBe(0)
})

test('minimal access shows the group itself, and of what is inside neither a row nor a name', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const person = await forge.user()
  const top = await groupOf(forge, 'top')
  const inner = await groupOf(forge, 'inner', { parent_id: top.id })
  const { id } = await projectIn(forge, top, 'hidden')
  await projectIn(forge, inner, 'deeper')
  const elsewhere = await groupOf(forge, 'elsewhere')
  const shared = await projectIn(forge, elsewhere, 'shared')
  await root.post(`/projects/${shared.id}/share`, { group_id: top.id, group_access: 30 })
  const joined = await root.post(`/groups/${top.id}/members`, { user_id: person.id, access_level: 5 })
  expect(joined.status).toBe(201)

  const got = async (path: string) => {
    const { status, body } = await person.get(path)
    return Array.isArray(body) ? body.map((one) => one.full_path ?? one.path_with_namespace ?? one.path) : status
  }
  expect(
    await forge.app.db.selectFrom('project_authorizations').where('user_id', '=', person.id).selectAll().execute(),
  ).toEqual([])
  for (const query of ['', '?membership=true', '?min_access_level=1', '?visibility=private', '?search=hidden'])
    expect([query, await got(`/projects${query}`)]).toEqual([query, []])
  expect(await got(`/groups/${top.id}/projects?include_subgroups=true`)).toEqual([])
  expect((await person.get(`/groups/${top.id}`)).body).toMatchObject({ projects: [], shared_projects: [] })
  expect(await got(`/users/${person.id}/projects`)).toEqual([])
  expect(await got('/groups?all_available=true')).toEqual(['top'])
  expect(await got('/groups?min_access_level=1')).toEqual(['top'])
  expect(await got(`/groups/${top.id}/subgroups`)).toEqual([])
  expect(await got(`/groups/${top.id}/descendant_groups`)).toEqual([])
  const hidden = [`/projects/${id}`, `/groups/${inner.id}`, `/groups/${elsewhere.id}`, `/namespaces/${inner.id}`]
  for (const path of hidden) expect([path, await got(path)]).toEqual([path, 404])
  expect(await got('/namespaces?search=inner')).toEqual([])
  expect((await root.get(`/projects/${id}/users`)).body.map((one: Person) => one.id)).not.toContain(person.id)
  expect((await root.get(`/projects/${id}/access`, { user_id: person.id })).body).toMatchObject({
    access_level: 0,
    readable: false,
    rules: [{ rule: 'inherited_membership', access_level: 5, counts: false }, { rule: 'visibility' }],
  })

  await root.put(`/groups/${top.id}/members/${person.id}`, { access_level: 10 })
  expect((await got('/projects?membership=true')) as string[]).toHaveLength(3)
})
