import { expect, test } from 'vitest'
import { callersOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { purgeExpiredShares } from './jobs.ts'

const headers: unknown = expect.anything()
const both = (text: string) => ({ message: text, error: text })

const linksOf = (forge: TestForge) => forge.app.db.selectFrom('project_shares').selectAll().execute()

test('a share lets the members of a group in, and its end sends them away', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const guests = await openSource(forge, 'groups')
  const developer = await forge.user()
  await guests.owner.post(`${guests.url}/members`, { user_id: developer.id, access_level: 30 })
  await guests.owner.post(`${guests.url}/members`, { user_id: owner.id, access_level: 10 })
  const events = await forge.events()

  const shared = await owner.post(`${url}/share`, {
    group_id: guests.id,
    group_access: '20',
    expires_at: '2999-1-2',
  })
  expect(shared).toEqual({
    status: 201,
    body: { id: expect.any(Number), project_id: id, group_id: guests.id, group_access: 20, expires_at: '2999-01-02' },
    headers,
  })
  expect((await developer.get(url)).body.shared_with_groups).toEqual([
    {
      group_id: guests.id,
      group_name: guests.title,
      group_full_path: guests.path.replace('/groups/', ''),
      group_access_level: 20,
      expires_at: '2999-01-02',
    },
  ])
  expect((await guests.owner.get(`/projects/${id}/access`)).body.access_level).toBe(20)
  expect(await forge.events()).toEqual([...events, 'project.shared'])

  expect(await owner.delete(`${url}/share/${guests.id}`)).toMatchObject({ status: 204, body: '' })
  expect((await developer.get(url)).status).toBe(404)
  expect((await owner.get(url)).body.shared_with_groups).toEqual([])
  expect(await forge.events()).toEqual([...events, 'project.shared', 'project.unshared'])
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const [target, second, hidden] = [
    await openSource(forge, 'groups', { visibility: 'public' }),
    await openSource(forge, 'groups', { visibility: 'public' }),
    await openSource(forge, 'groups'),
  ]
  const locked = await openSource(forge, 'projects')
  await locked.owner.put(locked.group.url, { share_with_group_lock: true })
  await owner.post(`${url}/share`, { group_id: target.id, group_access: 30 })
  const { body: inner } = await owner.post('/groups', { name: 'In', path: 'in', parent_id: source.group.id })
  const { body: deep } = await owner.post('/projects', { name: 'Deep', namespace_id: inner.id })
  const { body: own } = await owner.get('/namespaces', { search: owner.username })
  const before = [await linksOf(forge), await forge.events()]
  const around = 'Project cannot be shared with the group it is in or one of its ancestors.'

  const refusals = [
    [{ group_access: 30 }, 400, { message: '400 (Bad request) group_id not given', error: 'group_id is missing' }],
    [
      { group_id: second.id },
      400,
      { message: '400 (Bad request) group_access not given', error: 'group_access is missing' },
    ],
    [{ group_id: 'tools', group_access: 30 }, 400, both('group_id is invalid')],
    [{ group_id: second.id, group_access: 'all' }, 400, both('group_access is invalid')],
    [{ group_id: second.id, group_access: 50 }, 400, both('group_access does not have a valid value')],
    [{ group_id: second.id, group_access: 0 }, 400, both('group_access does not have a valid value')],
    [{ group_id: second.id, group_access: 15 }, 400, both('group_access does not have a valid value')],
    [{ group_id: second.id, group_access: 30, expires_at: 'soon' }, 400, both('expires_at is invalid')],
    [{ group_id: 4_000_000, group_access: 30 }, 404, { message: '404 Group Not Found' }],
    [{ group_id: hidden.id, group_access: 30 }, 404, { message: '404 Group Not Found' }],
    [{ group_id: own[0].id, group_access: 30 }, 404, { message: '404 Group Not Found' }],
    [{ group_id: target.id, group_access: 10 }, 409, { message: 'Group already shared with this group' }],
    [{ group_id: source.group.id, group_access: 10 }, 409, { message: around }],
  ] as const
  for (const [input, status, body] of refusals) {
    expect(await owner.post(`${url}/share`, input)).toEqual({ status, body, headers })
  }
  expect(await owner.post(`/projects/${deep.id}/share`, { group_id: source.group.id, group_access: 10 })).toEqual({
    status: 409,
    body: { message: around },
    headers,
  })
  expect(await locked.owner.post(`${locked.url}/share`, { group_id: target.id, group_access: 10 })).toEqual({
    status: 400,
    body: { message: 'The project sharing with group is disabled' },
    headers,
  })
  expect(await owner.delete(`${url}/share/${second.id}`)).toEqual({
    status: 404,
    body: { message: '404 Group Link Not Found' },
    headers,
  })
  expect(await owner.delete(`${url}/share/tools`)).toEqual({ status: 400, body: both('group_id is invalid'), headers })
  expect([await linksOf(forge), await forge.events()]).toEqual(before)
})

test('a share of the group below the project is fine', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'projects')
  const { body: inner } = await owner.post('/groups', { name: 'In', path: 'in', parent_id: group.id })
  expect((await owner.post(`${url}/share`, { group_id: inner.id, group_access: 10 })).status).toBe(201)
})

test('of two who share at once one comes first', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const targets = await Promise.all([1, 2, 3].map(() => openSource(forge, 'groups', { visibility: 'public' })))
  const share = async ({ id }: { id: number }) =>
    (await owner.post(`${url}/share`, { group_id: id, group_access: 20 })).status
  const statuses = await Promise.all([...targets, ...targets].map(share))
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 409, 409, 409])

  const [first] = targets
  const ends = await Promise.all([1, 2, 3].map(() => owner.delete(`${url}/share/${first!.id}`)))
  expect(ends.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404])
  const levels = await Promise.all(targets.map(async ({ owner }) => (await owner.get(`/projects/${id}/access`)).status))
  expect(levels).toEqual([404, 200, 200])
  expect((await forge.events()).filter((name) => name === 'project.unshared')).toHaveLength(1)
})

test('masters share; others are refused before they learn of groups and links', async () => {
  await using forge = await startForge()
  const secret = await openSource(forge, 'projects')
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  const target = await openSource(forge, 'groups', { visibility: 'public' })
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const tables = [
    [secret, [401, 404, 404, 403, 403, 403, 201, 409, 409, 401], [401, 404, 404, 403, 403, 403, 204, 404, 404, 401]],
    [open, [401, 403, 403, 403, 403, 403, 201, 409, 409, 401], [401, 403, 403, 403, 403, 403, 204, 404, 404, 401]],
  ] as const
  for (const [source, sharing, ending] of tables) {
    const callers = await callersOf(forge, source)
    const share = (group_id: number) =>
      statusesOf(callers, (caller) => caller.post(`${source.url}/share`, { group_id, group_access: 10 }))
    expect(await share(target.id)).toEqual(sharing)
    expect((await share(4_000_000)).slice(0, 6)).toEqual(sharing.slice(0, 6))
    expect(await statusesOf(callers, (caller) => caller.delete(`${source.url}/share/${target.id}`))).toEqual(ending)
  }
})

test('a share that changed since is not taken back', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const target = await openSource(forge, 'groups', { visibility: 'public' })
  const since = { 'If-Unmodified-Since': new Date(forge.clock.now().getTime() - DAY).toUTCString() }
  await owner.post(`${url}/share`, { group_id: target.id, group_access: 10 })
  expect(await owner.delete(`${url}/share/${target.id}`, undefined, since)).toMatchObject({
    status: 412,
    body: { message: '412 Precondition Failed' },
  })
  expect(await linksOf(forge)).toHaveLength(1)
  const now = { 'If-Unmodified-Since': new Date(forge.clock.now().getTime() + 1000).toUTCString() }
  expect((await owner.delete(`${url}/share/${target.id}`, undefined, now)).status).toBe(204)
})

test('shares end on their day', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const targets = await Promise.all([1, 2, 3].map(() => openSource(forge, 'groups', { visibility: 'public' })))
  const day = (days: number) => new Date(forge.clock.now().getTime() + days * DAY).toISOString().slice(0, 10)
  for (const [n, expires_at] of [day(1), day(2), null].entries()) {
    await owner.post(`${url}/share`, { group_id: targets[n]!.id, group_access: 20, expires_at })
  }
  const reach = () =>
    Promise.all(targets.map(async ({ owner }) => (await owner.get(`/projects/${id}/access`)).status === 200))
  await purgeExpiredShares.handle(forge.app, {})
  expect(await reach()).toEqual([true, true, true])
  forge.clock.advance(DAY)
  await forge.settle()
  expect(await reach()).toEqual([false, true, true])
  forge.clock.advance(DAY)
  await forge.settle()
  expect(await reach()).toEqual([false, false, true])
  expect((await forge.events()).filter((name) => name === 'project.unshared')).toHaveLength(2)
})
