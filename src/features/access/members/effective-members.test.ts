import { expect, test } from 'vitest'
import { costOf, openSource } from '../../../../test/sources.ts'
import { startForge, type Person } from '../../../forge.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../authorizations/service.ts'

type Visible = { id: number; access_level: number }
const levels = (body: Visible[]) => Object.fromEntries(body.map(({ id, access_level }) => [id, access_level]))

async function add(owner: Person, url: string, user_id: number, access_level: number, expires_at?: string) {
  const { status, body } = await owner.post(`${url}/members`, { user_id, access_level, expires_at })
  expect([url, status, body.access_level]).toEqual([url, 201, access_level])
}

test('of a group: its own members and those of the groups above it, each once at their highest', async () => {
  await using forge = await startForge()
  const { owner, group } = await openSource(forge, 'groups')
  const child = (await owner.post('/groups', { name: 'Saws', path: 'saws', parent_id: group.id })).body
  const below = `/groups/${child.id}`
  const [ann, bob, eve] = [await forge.user(), await forge.user(), await forge.user()]
  await add(owner, group.url, ann.id, 20)
  await add(owner, group.url, bob.id, 30, '2040-01-01')
  await add(owner, below, bob.id, 10)
  await add(owner, below, eve.id, 10, '2041-01-01')

  const all = await ann.get(`${below}/members/all`)
  expect(levels(all.body)).toEqual({ [owner.id]: 50, [ann.id]: 20, [bob.id]: 30, [eve.id]: 10 })
  expect(all.headers.get('X-Total')).toBe('4')
  const { body: bobs } = await ann.get(`${below}/members/all/${bob.id}`)
  expect(bobs).toMatchObject({ access_level: 30, expires_at: '2040-01-01', created_by: { id: owner.id } })
  expect(all.body).toContainEqual(bobs)
  expect((await ann.get(`${below}/members/${bob.id}`)).body.access_level).toBe(10)
  expect(levels((await ann.get(`${group.url}/members/all`)).body)).not.toHaveProperty(String(eve.id))
  expect((await ann.get(`${group.url}/members/all/${eve.id}`)).body).toEqual({ message: '404 Not found' })
  expect((await ann.get(`${group.url}/members/all/x`)).body.error).toBe('user_id is invalid')

  const page = await ann.get(`${below}/members/all`, { per_page: 2, page: 2 })
  expect(page.body.map(({ id }: Visible) => id)).toEqual([bob.id, eve.id])
  expect((await ann.get(`${below}/members/all`, { query: bob.username })).body).toEqual([bobs])
  expect((await ann.get(`${below}/members/all`, { user_ids: [bob.id] })).body).toEqual([bobs])
  expect(levels((await ann.get(`${below}/members/all`, { skip_users: [bob.id, eve.id] })).body)).toEqual({
    [owner.id]: 50,
    [ann.id]: 20,
  })
  // A total is recounted after every change.
  await owner.delete(`${below}/members/${eve.id}`)
  expect((await ann.get(`${below}/members/all`)).headers.get('X-Total')).toBe('3')
})

test('of a project: direct, inherited and shared ones, blocked people too', async () => {
  await using forge = await startForge()
  const { owner, group, url, id } = await openSource(forge, 'projects', { visibility: 'public' })
  const guests = await openSource(forge, 'groups')
  const [ann, bob, eve, max] = [await forge.user(), await forge.user(), await forge.user(), await forge.user()]
  await add(owner, group.url, ann.id, 20, '2040-01-01')
  await add(owner, url, ann.id, 30)
  await add(owner, url, bob.id, 10)
  await add(guests.owner, guests.url, eve.id, 40, '2041-01-01')
  await add(guests.owner, guests.url, max.id, 10)
  const now = new Date().toISOString()
  const at = { project_id: id, group_id: guests.id, expires_at: null, created_at: now, updated_at: now }
  await forge.app.db
    .insertInto('project_shares')
    .values({ ...at, group_access: 30 })
    .execute()
  await transact(forge.app, (app) => refreshAuthorizations(app, { project: id }))
  await forge.administrator.post(`/users/${bob.id}/block`)

  const expected = { [owner.id]: 50, [ann.id]: 30, [bob.id]: 10, [guests.owner.id]: 30, [eve.id]: 30, [max.id]: 10 }
  const all = await ann.get(`${url}/members/all`)
  expect(levels(all.body)).toEqual(expected)
  expect(all.headers.get('X-Total')).toBe('6')
  const one = async (person: Person) => (await ann.get(`${url}/members/all/${person.id}`)).body
  expect(await one(ann)).toMatchObject({ access_level: 30, expires_at: null })
  expect(await one(eve)).toMatchObject({ access_level: 30, expires_at: '2041-01-01' })
  expect(await one(bob)).toMatchObject({ state: 'blocked', access_level: 10 })
  expect(await one(owner)).toMatchObject({ access_level: 50, created_at: expect.any(String) })

  const few = await costOf(forge, () => ann.get(`${url}/members/all`))
  for (let n = 0; n < 10; n++) await add(owner, n % 2 ? url : group.url, (await forge.user()).id, 10)
  expect(await costOf(forge, () => ann.get(`${url}/members/all`))).toBe(few)
})

test('the owner of a personal project stands above everybody', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id } = (await jane.post('/projects', { name: 'own' })).body
  expect(levels((await jane.get(`/projects/${id}/members`)).body)).toEqual({ [jane.id]: 40 })
  expect(levels((await jane.get(`/projects/${id}/members/all`)).body)).toEqual({ [jane.id]: 50 })
})

test('readers of a project see its members', async () => {
  await using forge = await startForge()
  const { owner, group, url } = await openSource(forge, 'projects', { visibility: 'public' })
  const ann = await forge.user({ username: 'ann', name: 'Ann Smith', email: 'secret@example.com' })
  const bob = await forge.user({ username: 'bob', name: 'Bob' })
  await add(owner, group.url, ann.id, 20)
  await add(owner, url, bob.id, 10)
  const users = `${url}/users`
  const { body, headers } = await forge.visitor.get(users)
  expect(body.map(({ id }: Visible) => id)).toEqual([bob.id, ann.id, owner.id])
  expect(headers.get('X-Total')).toBe('3')
  expect(body[0]).toEqual({
    id: bob.id,
    username: 'bob',
    name: 'Bob',
    state: 'active',
    avatar_url: null,
    web_url: `${forge.url}/bob`,
  })
  const found = async (caller: { get: Person['get'] }, search: string) =>
    (await caller.get(users, { search })).body.map(({ id }: Visible) => id)
  const stranger = await forge.user()
  for (const caller of [forge.visitor, stranger]) {
    expect(await found(caller, 'SMITH')).toEqual([ann.id])
    expect(await found(caller, 'bo')).toEqual([bob.id])
  }
  // Matching by parts would reveal a hidden address, so only the whole address matches, and not for visitors.
  expect(await found(stranger, 'secret')).toEqual([])
  expect(await found(stranger, 'secret@example.com')).toEqual([ann.id])
  expect(await found(forge.visitor, 'secret@example.com')).toEqual([])
  expect(await found(forge.administrator, 'secret')).toEqual([ann.id])
  expect((await forge.visitor.get(users, { skip_users: [ann.id, owner.id] })).body).toEqual([body[0]])

  await forge.administrator.post(`/users/${bob.id}/block`)
  expect((await forge.visitor.get(users)).headers.get('X-Total')).toBe('2')
  const hidden = await openSource(forge, 'projects')
  for (const caller of [forge.visitor, stranger]) {
    expect(await caller.get(`${hidden.url}/users`)).toMatchObject({
      status: 404,
      body: { message: '404 Project Not Found' },
    })
  }
  expect((await hidden.owner.get(`${hidden.url}/users`)).status).toBe(200)
  expect((await bob.get(users)).status).toBe(401)
})
