import { expect, test } from 'vitest'
import { whileRejected } from '../../../../test/at-once.ts'
import { addMember } from '../../../../test/cast.ts'
import { KINDS, openSource } from '../../../../test/sources.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const request = { name: 'robot', scopes: ['api'], expires_at: '2999-01-01', access_level: 30 }

/** The answer of the API for this token. */
const get = (forge: TestForge, path: string, token: string) =>
  fetch(`${forge.url}/api/v4${path}`, { headers: { 'PRIVATE-TOKEN': token } })

test.each(KINDS)('a token of %s acts as a member of its own, is replaced and taken back', async (kind) => {
  await using forge = await startForge()
  const { url, id, owner } = await openSource(forge, kind)
  const other = await openSource(forge, 'projects', { visibility: 'internal' })
  const at = `${url}/access_tokens`
  const created = await owner.post(at, request)
  const record = {
    id: expect.any(Number),
    name: 'robot',
    revoked: false,
    created_at: expect.any(String),
    description: null,
    scopes: ['api'],
    user_id: expect.any(Number),
    last_used_at: null,
    active: true,
    expires_at: '2999-01-01',
    access_level: 30,
    resource_type: kind.slice(0, -1),
    resource_id: id,
  }
  expect(created).toMatchObject({ status: 201, body: { ...record, token: expect.any(String) } })
  const { token, ...shown } = created.body
  expect((await owner.get(at)).body).toEqual([shown])
  expect((await owner.get(`${at}/${shown.id}`)).body).toEqual(shown)
  expect((await get(forge, url, token)).status).toBe(200)
  expect((await get(forge, other.url, token)).status).toBe(404)
  const { body: members } = await owner.get(`${url}/members`)
  expect(members).toContainEqual(expect.objectContaining({ id: shown.user_id, name: 'robot', access_level: 30 }))

  const rotated = await owner.post(`${at}/${shown.id}/rotate`, { expires_at: '2999-06-01' })
  expect(rotated).toMatchObject({ status: 200, body: { user_id: shown.user_id, expires_at: '2999-06-01' } })
  expect((await get(forge, url, rotated.body.token)).status).toBe(200)
  expect((await owner.get(at, { state: 'active' })).body).toHaveLength(1)
  expect((await owner.get(at, { state: 'inactive' })).body).toMatchObject([{ id: shown.id, revoked: true }])

  expect((await owner.delete(`${at}/${rotated.body.id}`)).status).toBe(204)
  for (const old of [token, rotated.body.token]) expect((await get(forge, url, old)).status).toBe(401)
  expect((await owner.get(at)).body).toEqual([])
  expect((await forge.administrator.get(`/users/${shown.user_id}`)).status).toBe(404)
})

test('nobody gives more than they have, and no token makes others', async () => {
  await using forge = await startForge()
  const { url, id, group, owner } = await openSource(forge, 'projects')
  const [master, developer] = [await forge.user(), await forge.user()]
  await addMember(forge, { project_id: id }, master.id, 40)
  await addMember(forge, { project_id: id }, developer.id, 30)
  const denied = { message: 'User does not have permission to create project access token' }
  expect(await developer.post(`${url}/access_tokens`, request)).toMatchObject({ status: 400, body: denied })
  expect((await developer.get(`${url}/access_tokens`)).status).toBe(401)
  for (const [input, body] of [
    [{ access_level: 50 }, { message: { access_level: ['is not included in the list'] } }],
    [{ access_level: 7 }, { message: { access_level: ['is not included in the list'] } }],
    [{ scopes: ['sudo'] }, { message: { scopes: ['can only contain available scopes'] } }],
    [{ scopes: [] }, { message: { scopes: ["can't be blank"] } }],
    [{ name: ' ' }, { message: expect.anything() }],
  ] as const)
    expect(await master.post(`${url}/access_tokens`, { ...request, ...input })).toMatchObject({ status: 400, body })
  expect((await master.get(`${url}/access_tokens`)).body).toEqual([])
  const users = (await forge.administrator.get('/users', { per_page: 100 })).body.length
  const { body } = await master.post(`${url}/access_tokens`, { ...request, access_level: 40 })
  const made = await fetch(`${forge.url}/api/v4${url}/access_tokens`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': body.token, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect([made.status, await made.json()]).toEqual([400, denied])
  expect((await forge.administrator.get('/users', { per_page: 100 })).body).toHaveLength(users + 1)
  const later = (await master.post(`${url}/access_tokens`, { name: 'late', scopes: ['read_api'] })).body
  expect(later.access_level).toBe(40)
  expect(later.expires_at > '2026').toBe(true)
  expect((await owner.get(`${group.url}/access_tokens/${later.id}`)).status).toBe(404)
})

test('bots go with their project', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body } = await owner.post(`${url}/access_tokens`, request)
  await owner.delete(url)
  await forge.settle()
  expect((await forge.administrator.get(`/users/${body.user_id}`)).status).toBe(404)
  expect((await get(forge, '/user', body.token)).status).toBe(401)
})

test('a bot is deleted together with the creation of the ghost, or later', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body } = await owner.post(`${url}/access_tokens`, request)
  const bot = async () => (await forge.administrator.get(`/users/${body.user_id}`)).status
  const ghosts = async () => {
    const users: { username: string }[] = (await forge.administrator.get('/users', { search: 'ghost' })).body
    return users.map(({ username }) => username)
  }
  await whileRejected(forge, 'update on users', 'new.ghost', async () => {
    await owner.delete(url)
    await forge.settle()
    expect([await bot(), await ghosts()]).toEqual([200, []])
  })
  forge.clock.advance(HOUR)
  await forge.settle()
  expect([await bot(), await ghosts()]).toEqual([404, ['ghost']])
})

test.each(KINDS)('tokens of %s are narrowed by their times, and sorted', async (kind) => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, kind)
  const at = `${url}/access_tokens`
  const { db } = forge.app
  for (const [name, created, used, expires_at] of [
    ['b', '2020-01-01', null, '2990-01-01'],
    ['a', '2020-01-02', '2020-02-02', '2991-01-01'],
    ['c', '2020-01-03', '2020-02-01', '2992-01-01'],
  ] as const) {
    const { id } = (await owner.post(at, { ...request, name, expires_at })).body
    const last_used_at = used && `${used}T00:00:00.000Z`
    const times = { created_at: `${created}T00:00:00.000Z`, last_used_at }
    await db.updateTable('access_tokens').set(times).where('id', '=', id).execute()
  }
  for (const [input, expected] of [
    [{}, 'cab'],
    [{ created_before: '2020-01-01T00:00:00Z' }, 'b'],
    [{ created_after: '2020-01-02T00:00:00Z' }, 'ca'],
    [{ last_used_before: '2020-02-01T00:00:00Z' }, 'c'],
    [{ last_used_after: '2020-02-02T00:00:00Z' }, 'a'],
    [{ expires_before: '2990-06-01' }, 'b'],
    [{ expires_after: '2991-01-01' }, 'ca'],
    [{ sort: 'created_asc' }, 'bac'],
    [{ sort: 'created_desc' }, 'cab'],
    [{ sort: 'last_used_asc' }, 'cab'],
    [{ sort: 'last_used_desc' }, 'acb'],
    [{ sort: 'expires_asc' }, 'bac'],
    [{ sort: 'expires_desc' }, 'cab'],
    [{ sort: 'name_asc' }, 'abc'],
    [{ sort: 'name_desc' }, 'cba'],
  ] as const) {
    const { body } = await owner.get(at, input)
    expect([input, body.map(({ name }: { name: string }) => name).join('')]).toEqual([input, expected])
  }
  for (const input of [{ sort: 'age' }, { created_before: 'x' }]) expect((await owner.get(at, input)).status).toBe(400)
})
