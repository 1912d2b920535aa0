import { expect, test } from 'vitest'
import { mailsOf } from '../../../../test/mailbox.ts'
import { KINDS, openSource } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { purgeExpired } from './jobs.ts'
import { expireMember } from './service.ts'

const FORBIDDEN = { status: 403, body: { message: '403 Forbidden' } }

const add = (owner: Person, url: string, user: Person, access_level: number, more = {}) =>
  owner.post(`${url}/members`, { user_id: user.id, access_level, ...more })

test('a group keeps its last owner who can act', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'groups')
  const blocked = await forge.user()
  await add(owner, url, blocked, 50)
  await forge.administrator.post(`/users/${blocked.id}/block`)
  const own = `${url}/members/${owner.id}`
  const before = await forge.events()
  for (const caller of [owner, forge.administrator]) {
    expect(await caller.delete(own)).toMatchObject(FORBIDDEN)
    expect(await caller.put(own, { access_level: 40 })).toMatchObject(FORBIDDEN)
  }
  expect(await forge.events()).toEqual(before)
  expect((await owner.put(own, { access_level: 50, expires_at: '2040-01-01' })).status).toBe(200)

  // An owner of the parent group owns this group too.
  const child = (await owner.post('/groups', { name: 'Saws', path: 'saws', parent_id: group.id })).body
  const successor = await forge.user()
  await add(owner, `/groups/${child.id}`, successor, 50)
  expect((await owner.delete(`/groups/${child.id}/members/${owner.id}`)).status).toBe(204)
  expect((await successor.delete(`/groups/${child.id}/members/${successor.id}`)).status).toBe(204)

  const second = await forge.user()
  await add(owner, url, second, 50)
  expect((await owner.delete(own)).status).toBe(204)
  expect(await second.delete(`${url}/members/${second.id}`)).toMatchObject(FORBIDDEN)
})

test('of two last owners who leave at the same moment one stays', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const second = await forge.user()
  await add(owner, url, second, 50)
  const answers = await Promise.all([
    owner.delete(`${url}/members/${owner.id}`),
    second.put(`${url}/members/${second.id}`, { access_level: 40 }),
  ])
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(1)
})

test('a personal project keeps the one whose it is', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const master = await forge.user()
  const url = `/projects/${(await jane.post('/projects', { name: 'own' })).body.id}`
  await add(jane, url, master, 40)
  const before = [await forge.events(), (await jane.get(`${url}/members`)).body]
  const own = `${url}/members/${jane.id}`
  for (const caller of [jane, master, forge.administrator]) {
    expect(await caller.delete(own)).toMatchObject(FORBIDDEN)
    expect(await caller.put(own, { access_level: 30 })).toMatchObject(FORBIDDEN)
    expect(await caller.put(own, { access_level: 40, expires_at: '2040-01-01' })).toMatchObject(FORBIDDEN)
    expect((await caller.put(own, { access_level: 40 })).status).toBe(200)
  }
  expect([await forge.events(), (await jane.get(`${url}/members`)).body]).toEqual(before)
})

test('later levels are taken as they are', async () => {
  await using forge = await startForge()
  const [group, project] = [await openSource(forge, 'groups'), await openSource(forge, 'projects')]
  const jane = await forge.user()
  expect((await add(group.owner, group.url, jane, 5)).body.access_level).toBe(5)
  expect((await add(project.owner, project.url, jane, 15)).body.access_level).toBe(15)
  expect((await jane.get(project.url)).status).toBe(200)
  expect((await add(project.owner, project.url, await forge.user(), 5)).status).toBe(400)
})

test('a group that locks memberships keeps its projects, and those below, as they are', async () => {
  await using forge = await startForge()
  const { owner, group, url } = await openSource(forge, 'projects', {
    visibility: 'public',
    request_access_enabled: true,
  })
  const [jane, john, asking] = [await forge.user(), await forge.user(), await forge.user()]
  await add(owner, url, jane, 30)
  expect((await asking.post(`${url}/access_requests`)).status).toBe(201)
  await owner.post(`${url}/invitations`, { email: 'late@example.com', access_level: 30 })
  await forge.app.db.updateTable('namespaces').set({ membership_lock: true }).where('id', '=', group.id).execute()
  const before = await forge.events()
  for (const caller of [owner, forge.administrator]) {
    expect(await add(caller, url, john, 30)).toMatchObject(FORBIDDEN)
    expect(await caller.post(`${url}/members`, { user_id: `${john.id},1`, access_level: 30 })).toMatchObject(FORBIDDEN)
    expect(await caller.put(`${url}/access_requests/${asking.id}/approve`)).toMatchObject(FORBIDDEN)
    for (const email of ['new@example.com', john.email]) {
      expect(await caller.post(`${url}/invitations`, { email, access_level: 30 })).toMatchObject(FORBIDDEN)
    }
  }
  expect(await forge.events()).toEqual(before)
  expect((await owner.get(`${url}/access_requests`)).body).toHaveLength(1)
  expect((await owner.get(`${url}/invitations`)).body).toHaveLength(1)
  const child = (await owner.post('/groups', { name: 'Saws', path: 'saws', parent_id: group.id })).body
  const below = (await owner.post('/projects', { name: 'below', namespace_id: child.id })).body
  expect(await add(owner, `/projects/${below.id}`, john, 30)).toMatchObject(FORBIDDEN)
  // Existing members can be changed and removed, and the group itself still accepts members.
  expect((await owner.put(`${url}/members/${jane.id}`, { access_level: 20 })).status).toBe(200)
  expect((await owner.delete(`${url}/members/${jane.id}`)).status).toBe(204)
  expect((await add(owner, group.url, john, 30)).status).toBe(201)
})

test('memberships of one person that change at the same moment all count', async () => {
  await using forge = await startForge()
  const { owner, group, url } = await openSource(forge, 'projects')
  const jane = await forge.user()
  const answers = await Promise.all([add(owner, url, jane, 10), add(owner, group.url, jane, 30)])
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  expect((await owner.get(`${url}/members/all/${jane.id}`)).body.access_level).toBe(30)
  await Promise.all([owner.delete(`${url}/members/${jane.id}`), owner.delete(`${group.url}/members/${jane.id}`)])
  expect((await jane.get(url)).status).toBe(404)
})

const dateIn = (forge: TestForge, days: number) =>
  new Date(forge.clock.now().getTime() + days * DAY).toISOString().slice(0, 10)

test.each(KINDS)('memberships of %s end on their day', async (kind) => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, kind)
  const [past, soon, later, endless] = [await forge.user(), await forge.user(), await forge.user(), await forge.user()]
  await add(owner, url, past, 30, { expires_at: dateIn(forge, -3) })
  await add(owner, url, soon, 30, { expires_at: dateIn(forge, 1) })
  await add(owner, url, later, 30, { expires_at: dateIn(forge, 3) })
  await add(owner, url, endless, 30)
  // The membership counts until it expires.
  for (const person of [past, soon]) expect((await person.get(url)).status).toBe(200)
  await forge.settle()
  const before = await forge.events()

  forge.clock.advance(DAY)
  await forge.settle()
  const statuses = await Promise.all([past, soon, later, endless].map(async (person) => (await person.get(url)).status))
  expect(statuses).toEqual([404, 404, 200, 200])
  expect((await forge.events()).slice(before.length)).toEqual(['member.removed', 'member.removed'])
  const { payload } = await forge.app.db
    .selectFrom('events')
    .select('payload')
    .where('name', '=', 'member.removed')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  expect(JSON.parse(payload)).toMatchObject({ user_id: past.id, expired: true })
  expect(JSON.parse(payload)).not.toHaveProperty('by')

  await purgeExpired.handle(forge.app, {})
  expect((await forge.events()).length).toBe(before.length + 2)
})

test('a membership that was prolonged before its turn came stays', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const jane = await forge.user()
  await add(owner, url, jane, 30, { expires_at: dateIn(forge, -1) })
  const row = await forge.app.db
    .selectFrom('members')
    .selectAll()
    .where('user_id', '=', jane.id)
    .executeTakeFirstOrThrow()
  await owner.put(`${url}/members/${jane.id}`, { access_level: 30, expires_at: dateIn(forge, 1) })
  expect(await expireMember(forge.app, row)).toBe(false)
  expect((await jane.get(url)).status).toBe(200)
})

test('the last owner outlasts their day, and more than a batch goes in one night', async () => {
  await using forge = await startForge()
  const { url, owner, id } = await openSource(forge, 'groups')
  await owner.put(`${url}/members/${owner.id}`, { access_level: 50, expires_at: '2001-01-01' })
  const people = await Promise.all(Array.from({ length: 120 }, () => forge.user()))
  const now = new Date().toISOString()
  const common = { group_id: id, project_id: null, access_level: 10, expires_at: '2001-01-01', created_by_id: null }
  await forge.app.db
    .insertInto('members')
    .values(people.map((person) => ({ ...common, user_id: person.id, created_at: now, updated_at: now })))
    .execute()
  await purgeExpired.handle(forge.app, {})
  const left = await owner.get(`${url}/members`)
  expect(left.body.map(({ id }: { id: number }) => id)).toEqual([owner.id])
})

test.each(KINDS)('people are told what they became in %s', async (kind) => {
  await using forge = await startForge()
  const { url, owner, title, path } = await openSource(forge, kind)
  const [jane, unconfirmed] = [await forge.user({ name: 'Jane' }), await forge.user({ skip_confirmation: false })]
  const before = await mailsOf(forge)
  await add(owner, url, jane, 30, { expires_at: '2040-01-01' })
  await add(owner, url, unconfirmed, 30)
  expect((await mailsOf(forge)).filter((mail) => !before.some((old) => old.text === mail.text))).toMatchObject([
    { to: jane.email, subject: `You were added to ${title}` },
  ])
  await owner.put(`${url}/members/${jane.id}`, { access_level: 40, expires_at: '' })
  const mails = (await mailsOf(forge)).filter(({ to }) => to === jane.email)
  const texts = mails.map(({ text }) => text).toSorted()
  expect(texts.join()).toContain(`${title} is Developer. The membership expires on 2040-01-01.`)
  expect(texts.join()).toContain(`${title} is Master.\n\n${forge.url}${path}`)
  expect(mails).toHaveLength(2)
  // No mail about a user's own action, or about their removal.
  await jane.delete(`${url}/members/${jane.id}`)
  expect((await mailsOf(forge)).filter(({ to }) => to === jane.email)).toHaveLength(2)
})
