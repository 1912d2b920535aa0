/** Groups that follow directory groups, and users who leave the directory, against a real slapd. */
import { expect, test } from 'vitest'
import { HOUR } from '../../src/clock.ts'
import type { App } from '../../src/context.ts'
import { DirectoryUnreachable } from '../../src/directory/directory.ts'
import { syncGroup } from '../../src/features/groups/directory-links/sync.ts'
import { checkDirectoryPeople } from '../../src/features/identity/users/jobs.ts'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { Browser } from '../browser.ts'
import { BASE, startDirectory, type TestDirectory } from '../directory.ts'
import { openSource, type Source } from '../sources.ts'

const PASSWORD = 'correct horse'
const PROVIDER = 'ldapmain'

const dnOf = (uid: string) => `uid=${uid},${BASE}`

/** A user in the directory, with an account. */
async function personOf(forge: TestForge, server: TestDirectory, uid: string, more = {}): Promise<Person> {
  const extern_uid = await server.person({ uid, password: PASSWORD })
  return forge.user({ username: uid, provider: PROVIDER, extern_uid, ...more })
}

const link = ({ owner, url }: Source, cn: string, group_access: number) =>
  owner.post(`${url}/ldap_group_links`, { cn, group_access, provider: PROVIDER })

const unlink = ({ owner, url }: Source, cn: string) => owner.delete(`${url}/ldap_group_links/${cn}`)

async function sync(forge: TestForge, { owner, url }: Source): Promise<void> {
  expect((await owner.post(`${url}/ldap_sync`)).status).toBe(202)
  await forge.settle()
}

const anHourLater = async (forge: TestForge) => {
  forge.clock.advance(HOUR + 1000)
  await forge.settle()
}

/** All members except the creator of the group: `jane 30 directory`. */
async function membersOf({ app }: TestForge, { id, owner }: Source): Promise<string[]> {
  const members = await app.db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['username', 'access_level', 'from_directory'])
    .where('group_id', '=', id)
    .where('user_id', '!=', owner.id)
    .orderBy('username')
    .execute()
  return members.map((m) => `${m.username} ${m.access_level} ${m.from_directory ? 'directory' : 'hand'}`)
}

async function stateOf({ app }: TestForge, { id }: { id: number }): Promise<string> {
  return (await app.db.selectFrom('users').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state
}

const updatesSince = async (forge: TestForge, before: number) => (await forge.events()).slice(before)
const updatesSoFar = async (forge: TestForge) => (await forge.events()).length

test('people come, rise, fall and leave with the directory group', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const project = await group.owner.post('/projects', { name: 'Saw', namespace_id: group.id, visibility: 'private' })
  const jane = await personOf(forge, server, 'jane')
  const john = await personOf(forge, server, 'john')
  const outsider = await personOf(forge, server, 'outsider')
  await server.person({ uid: 'stranger' }) // no account
  const team = await server.group('team', [dnOf('jane'), dnOf('john'), dnOf('stranger')])
  await server.group('leads', ['john', 'nobody'], 'posixGroup')
  await forge.settle()

  let before = await updatesSoFar(forge)
  expect((await link(group, 'team', 30)).status).toBe(201)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])
  expect(await updatesSince(forge, before)).toEqual(['member.added', 'member.added'])
  expect((await jane.get(`/projects/${project.body.id}`)).status).toBe(200)
  expect((await outsider.get(`/projects/${project.body.id}`)).status).toBe(404)

  before = await updatesSoFar(forge)
  await link(group, 'leads', 40)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 40 directory'])
  expect(await updatesSince(forge, before)).toEqual(['member.changed'])

  before = await updatesSoFar(forge)
  await server.group('all', [dnOf('jane'), dnOf('john')], 'groupOfUniqueNames')
  await link(group, 'all', 10)
  await sync(forge, group)
  await anHourLater(forge)
  expect(await updatesSince(forge, before)).toEqual([])

  for (const cn of ['leads', 'all']) await unlink(group, cn)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])
  expect((await john.get('/projects')).body).toMatchObject([{ permissions: { group_access: { access_level: 30 } } }])
  expect(await updatesSince(forge, before)).toEqual(['member.changed'])

  before = await updatesSoFar(forge)
  await server.change(team, { member: [dnOf('john'), dnOf('outsider')] })
  await anHourLater(forge)
  expect(await membersOf(forge, group)).toEqual(['john 30 directory', 'outsider 30 directory'])
  expect(await updatesSince(forge, before)).toEqual(['member.added', 'member.removed'])
  expect((await jane.get(`/projects/${project.body.id}`)).status).toBe(404)
  expect((await outsider.get(`/projects/${project.body.id}`)).status).toBe(200)

  before = await updatesSoFar(forge)
  await server.remove(team)
  await sync(forge, group)
  expect(await membersOf(forge, group)).toEqual([])
  expect(await updatesSince(forge, before)).toEqual(['member.removed', 'member.removed'])
  expect(await Promise.all([jane, john, outsider].map((one) => stateOf(forge, one)))).toEqual(Array(3).fill('active'))
})

test('the news names the group and the level, and the group when it was synced', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const jane = await personOf(forge, server, 'jane')
  await server.group('team', [dnOf('jane')], 'groupOfUniqueNames')
  const asked = forge.clock.now().toISOString()
  await link(group, 'team', 20)
  await forge.settle()
  await unlink(group, 'team')
  await forge.settle()

  const rows = await forge.app.db
    .selectFrom('events')
    .select(['name', 'payload'])
    .where('name', 'in', ['member.added', 'member.removed'])
    .execute()
  const moments = { created_at: expect.any(String), updated_at: expect.any(String), expires_at: null }
  const event = { group_id: group.id, project_id: null, user_id: jane.id, access_level: 20, ...moments }
  expect(rows.slice(-2).map(({ name, payload }) => [name, JSON.parse(payload)])).toEqual([
    ['member.added', event],
    ['member.removed', { ...event, expired: false }],
  ])
  const { ldap_synced_at } = await forge.app.db
    .selectFrom('namespaces')
    .select('ldap_synced_at')
    .where('id', '=', group.id)
    .executeTakeFirstOrThrow()
  expect(ldap_synced_at! >= asked && ldap_synced_at! <= forge.clock.now().toISOString()).toBe(true)
})

test('memberships made by hand are raised, fall back to what was given, and never end', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  for (const [uid, access_level] of [
    ['guest', 10],
    ['master', 40],
    ['outsider', 20],
  ] as const) {
    const { id } = await personOf(forge, server, uid)
    await group.owner.post(`${group.url}/members`, { user_id: id, access_level })
  }
  const team = await server.group('team', [dnOf('guest'), dnOf('master')])
  await link(group, 'team', 30)
  await forge.settle()
  const raised = ['guest 30 hand', 'master 40 hand', 'outsider 20 hand']
  expect(await membersOf(forge, group)).toEqual(raised)

  await sync(forge, group)
  expect(await membersOf(forge, group)).toEqual(raised)

  await server.remove(team)
  await sync(forge, group)
  const given = ['guest 10 hand', 'master 40 hand', 'outsider 20 hand']
  expect(await membersOf(forge, group)).toEqual(given)
  await unlink(group, 'team')
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(given)
})

test('what was changed by hand follows the directory again, and a wish to be let in is fulfilled', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups', { visibility: 'public', request_access_enabled: true })
  const jane = await personOf(forge, server, 'jane')
  expect((await jane.post(`${group.url}/access_requests`)).status).toBe(201)
  await server.group('team', [dnOf('jane')])
  await link(group, 'team', 30)
  await forge.settle()
  expect((await group.owner.get(`${group.url}/access_requests`)).body).toEqual([])

  for (const access_level of [10, 40]) {
    await group.owner.put(`${group.url}/members/${jane.id}`, { access_level })
    await sync(forge, group)
    expect(await membersOf(forge, group)).toEqual(['jane 30 directory'])
  }
  await group.owner.delete(`${group.url}/members/${jane.id}`)
  await sync(forge, group)
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory'])
})

test('a group keeps its last owner, until there is another', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const asRoot = { ...group, owner: forge.administrator }
  await personOf(forge, server, 'jane')
  await personOf(forge, server, 'john')
  const owners = await server.group('owners', ['jane'], 'posixGroup')
  await link(group, 'owners', 50)
  await forge.settle()
  await forge.administrator.delete(`${group.url}/members/${group.owner.id}`)
  expect(await membersOf(forge, group)).toEqual(['jane 50 directory'])

  const before = await updatesSoFar(forge)
  await server.change(owners, { memberUid: [] })
  await sync(forge, asRoot)
  expect(await membersOf(forge, group)).toEqual(['jane 50 directory'])
  await unlink(asRoot, 'owners')
  await server.group('team', [dnOf('jane')])
  await link(asRoot, 'team', 10)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 50 directory'])
  expect(await updatesSince(forge, before)).toEqual([])

  await server.change(owners, { memberUid: 'john' })
  await link(asRoot, 'owners', 50)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 10 directory', 'john 50 directory'])
})

test('an account that the first sign-in makes joins its groups', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  await server.person({ uid: 'jane', password: PASSWORD })
  await server.group('team', [dnOf('jane')])
  await link(group, 'team', 30)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual([])
  expect((await forge.visitor.post('/session', { login: 'jane', password: PASSWORD })).status).toBe(201)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory'])
})

test('a DN that an administrator wrote in another form is the same person', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  await server.person({ uid: 'jane' })
  await server.group('team', [dnOf('jane')])
  const identity = { provider: PROVIDER, extern_uid: 'UID=Jane, OU=People, DC=Example, DC=org' }
  await forge.user({ username: 'mary', ...identity })
  await forge.user({ username: 'namesake', provider: 'ldapother', extern_uid: dnOf('jane') })
  await link(group, 'team', 30)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['mary 30 directory'])
})

test('a link with an unknown directory says nothing: who may belong to it stays', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  await personOf(forge, server, 'jane')
  const john = await personOf(forge, server, 'john')
  const team = await server.group('team', [dnOf('jane')])
  await link(group, 'team', 30)
  await group.owner.post(`${group.url}/ldap_group_links`, { cn: 'team', group_access: 10, provider: 'ldapother' })
  await forge.settle()
  await server.change(team, { member: [dnOf('john')] })
  await sync(forge, group)
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])
  await group.owner.delete(`${group.url}/ldap_group_links/ldapother/team`)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['john 30 directory'])
  expect(await stateOf(forge, john)).toBe('active')
})

test('a user removed from the directory is blocked until the user returns', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const jane = await personOf(forge, server, 'jane')
  const john = await personOf(forge, server, 'john')
  const blocked = await personOf(forge, server, 'blocked', { blocked: true })
  const local = await forge.user({ username: 'local' })
  const elsewhere = await forge.user({ username: 'elsewhere', provider: 'ldapother', extern_uid: 'uid=gone,dc=org' })
  const browser = new Browser(forge.url)
  expect(await browser.signIn('jane', PASSWORD)).toMatchObject({ status: 303 })
  await anHourLater(forge)
  let before = await updatesSoFar(forge)

  for (const uid of ['jane', 'blocked']) await server.remove(dnOf(uid))
  await anHourLater(forge)
  const everybody = { jane, john, blocked, local, elsewhere }
  const states = async () => {
    const entries = Object.entries(everybody).map(async ([name, one]) => [name, await stateOf(forge, one)])
    return Object.fromEntries(await Promise.all(entries))
  }
  const others = { john: 'active', blocked: 'blocked', local: 'active', elsewhere: 'active' }
  expect(await states()).toEqual({ ...others, jane: 'ldap_blocked' })
  expect(await updatesSince(forge, before)).toEqual(['user.blocked'])
  expect((await jane.get('/user')).status).toBe(401)
  expect(await forge.app.db.selectFrom('sessions').select('id').where('user_id', '=', jane.id).execute()).toEqual([])

  await anHourLater(forge)
  expect(await updatesSince(forge, before)).toEqual(['user.blocked'])

  before = await updatesSoFar(forge)
  for (const uid of ['jane', 'blocked']) await server.person({ uid, password: PASSWORD })
  await anHourLater(forge)
  expect(await states()).toEqual({ ...others, jane: 'active' })
  expect(await updatesSince(forge, before)).toEqual(['user.unblocked'])
  expect((await jane.get('/user')).status).toBe(200)
})

test('who left a group by leaving the directory is blocked with the sync', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const jane = await personOf(forge, server, 'jane')
  const john = await personOf(forge, server, 'john')
  const team = await server.group('team', ['jane', 'john'], 'posixGroup')
  await link(group, 'team', 30)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])
  await server.remove(dnOf('jane'))
  await server.change(team, { memberUid: ['jane'] })
  await sync(forge, group)
  expect(await membersOf(forge, group)).toEqual([])
  expect([await stateOf(forge, jane), await stateOf(forge, john)]).toEqual(['ldap_blocked', 'active'])
})

test('the last administrator is not blocked, and keeps nobody else from it', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const admin = await personOf(forge, server, 'boss', { admin: true })
  const other = await personOf(forge, server, 'deputy', { admin: true })
  expect((await admin.post(`/users/${forge.administrator.id}/block`)).status).toBe(201)
  const jane = await personOf(forge, server, 'jane')
  for (const uid of ['boss', 'deputy', 'jane']) await server.remove(dnOf(uid))
  await anHourLater(forge)
  const states = await Promise.all([admin, other, jane].map((one) => stateOf(forge, one)))
  expect(states).toEqual(['ldap_blocked', 'active', 'ldap_blocked'])
})

test('a directory that cannot be asked changes nothing, however long, and is asked again afterwards', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const jane = await personOf(forge, server, 'jane')
  const john = await personOf(forge, server, 'john')
  const team = await server.group('team', [dnOf('jane'), dnOf('john')])
  await link(group, 'team', 30)
  await forge.settle()
  const members = ['jane 30 directory', 'john 30 directory']
  expect(await membersOf(forge, group)).toEqual(members)
  const before = await updatesSoFar(forge)

  await server.change(team, { member: [dnOf('john')] })
  await server.remove(dnOf('jane'))
  await server.stop()
  await sync(forge, group)
  // More runs than the attempts of a failing job.
  for (let hours = 0; hours < 14; hours++) await anHourLater(forge)
  expect(await membersOf(forge, group)).toEqual(members)
  expect([await stateOf(forge, jane), await stateOf(forge, john)]).toEqual(['active', 'active'])
  expect(await updatesSince(forge, before)).toEqual([])

  await server.start()
  await anHourLater(forge)
  expect(await membersOf(forge, group)).toEqual(['john 30 directory'])
  expect([await stateOf(forge, jane), await stateOf(forge, john)]).toEqual(['ldap_blocked', 'active'])
  const event = await updatesSince(forge, before)
  expect(event.toSorted()).toEqual(['member.removed', 'user.blocked'])
})

/** The same forge, in which something happens right after the directory's first answer. */
function interrupted({ app }: TestForge, happen: () => Promise<unknown>): App {
  let isOver = false
  const after = async <T>(answer: Promise<T>): Promise<T> => {
    const known = await answer
    if (!isOver) {
      isOver = true
      await happen()
    }
    return known
  }
  const directories = app.directories.map((directory) => ({
    ...directory,
    findMembers: (cn: string) => after(directory.findMembers(cn)),
    findPerson: (dn: string) => after(directory.findPerson(dn)),
  }))
  return { ...app, directories }
}

test('a server that stops in the middle of a run leaves everything as it was', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  const people = [await personOf(forge, server, 'jane'), await personOf(forge, server, 'john')]
  const team = await server.group('team', [dnOf('jane')])
  await server.group('leads', [dnOf('john')])
  for (const cn of ['team', 'leads']) await link(group, cn, 30)
  await forge.settle()
  const before = await updatesSoFar(forge)
  const members = await membersOf(forge, group)
  expect(members).toEqual(['jane 30 directory', 'john 30 directory'])

  await server.remove(team)
  const stopping = () => interrupted(forge, () => server.stop())
  await expect(syncGroup(stopping(), group.id)).rejects.toThrow(DirectoryUnreachable)
  expect(await membersOf(forge, group)).toEqual(members)

  await server.start()
  await server.remove(dnOf('john'))
  await checkDirectoryPeople.handle(stopping(), {})
  expect(await Promise.all(people.map((one) => stateOf(forge, one)))).toEqual(['active', 'active'])
  expect(await updatesSince(forge, before)).toEqual([])
})

test('a run that was overtaken by a later one does not undo it', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  await personOf(forge, server, 'jane')
  const team = await server.group('team', [dnOf('jane')])
  await link(group, 'team', 30)
  await forge.settle()
  forge.clock.advance(1000)
  const overtaking = interrupted(forge, async () => {
    await server.remove(team)
    forge.clock.advance(1000)
    await sync(forge, group)
    expect(await membersOf(forge, group)).toEqual([])
  })
  await syncGroup(overtaking, group.id)
  expect(await membersOf(forge, group)).toEqual([])
})

test('of a link made during a run nothing is known yet, and one deleted meanwhile counts no more', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  for (const uid of ['jane', 'john']) await personOf(forge, server, uid)
  await server.group('team', [dnOf('jane')])
  await server.group('leads', [dnOf('john')])
  for (const cn of ['team', 'leads']) await link(group, cn, 30)
  await forge.settle()
  await forge.stopWorker()
  const relinking = interrupted(forge, async () => {
    await unlink(group, 'leads')
    await link(group, 'leads', 20)
  })
  await syncGroup(relinking, group.id)
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])
  await syncGroup(forge.app, group.id)
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 20 directory'])
  await syncGroup(
    interrupted(forge, () => unlink(group, 'team')),
    group.id,
  )
  expect(await membersOf(forge, group)).toEqual(['john 20 directory'])
})

test('an administrator who blocks someone meanwhile has blocked them for good', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const jane = await personOf(forge, server, 'jane')
  await server.remove(dnOf('jane'))
  const blocking = interrupted(forge, () => forge.administrator.post(`/users/${jane.id}/block`))
  await checkDirectoryPeople.handle(blocking, {})
  expect(await stateOf(forge, jane)).toBe('blocked')
})

test('a filter lets in whom it finds among those who may sign in', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  const group = await openSource(forge, 'groups')
  for (const name of ['jane', 'john', 'outsider']) await personOf(forge, server, name)
  const links = `${group.url}/ldap_group_links`
  const filter = '(|(uid=jane)(uid=john)(uid=stranger))'
  const made = await group.owner.post(links, { filter, group_access: 30, provider: 'ldapmain' })
  expect(made.status).toBe(201)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual(['jane 30 directory', 'john 30 directory'])

  await group.owner.delete(`${links}?${new URLSearchParams({ filter, provider: 'ldapmain' })}`)
  await forge.settle()
  expect(await membersOf(forge, group)).toEqual([])
})
