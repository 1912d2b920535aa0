import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { basic } from '../../../../test/lfs.ts'
import { KINDS, callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { DAY, MINUTE, timestamp } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import { deployTokenReaches, findDeployToken } from './queries.ts'

const headers: unknown = expect.anything()

test.each(KINDS)('a token of %s shows its value once', async (kind) => {
  await using forge = await startForge()
  const { url, owner, id } = await openSource(forge, kind)
  const tokens = `${url}/deploy_tokens`
  const events = await forge.events()
  const made = await owner.post(tokens, { name: 'robot', scopes: ['read_repository', 'read_repository'] })
  const { token, ...record } = made.body
  expect(record).toEqual({
    id: expect.any(Number),
    name: 'robot',
    username: `gitlab+deploy-token-${record.id}`,
    expires_at: null,
    scopes: ['read_repository'],
    revoked: false,
    expired: false,
  })
  expect([made.status, token]).toEqual([201, expect.stringMatching(/^mdt-[\w-]{20}$/)])
  const request = {
    name: 'other',
    scopes: 'read_registry,write_registry',
    username: 'robo.t+1',
    expires_at: '2999-01-02',
  }
  const { body: other } = await owner.post(tokens, request)
  expect(other).toMatchObject({
    username: 'robo.t+1',
    scopes: ['read_registry', 'write_registry'],
    expires_at: '2999-01-02T00:00:00.000Z',
  })
  const { token: _, ...second } = other
  expect((await owner.get(tokens)).body).toEqual([record, second])
  expect((await owner.get(`${tokens}/${record.id}`)).body).toEqual(record)
  expect((await forge.administrator.get('/deploy_tokens')).body).toEqual([record, second])
  const row = await forge.app.db.selectFrom('deploy_tokens').selectAll().executeTakeFirstOrThrow()
  expect(row).toMatchObject({
    creator_id: owner.id,
    group_id: kind === 'groups' ? id : null,
    project_id: kind === 'groups' ? null : id,
  })
  expect(JSON.stringify(row)).not.toContain(token)

  const long = { 'If-Unmodified-Since': new Date(Date.now() - 10 * MINUTE).toUTCString() }
  expect((await owner.delete(`${tokens}/${record.id}`, undefined, long)).status).toBe(412)
  expect(await owner.delete(`${tokens}/${record.id}`)).toMatchObject({ status: 204, body: '' })
  for (const method of ['GET', 'DELETE']) {
    const answer = await owner.request(method, `${tokens}/${record.id}`)
    expect(answer).toEqual({ status: 404, body: { message: '404 Not found' }, headers })
  }
  expect(await forge.events()).toEqual(events)
  // A token of another project or group is not found here.
  const elsewhere = await openSource(forge, kind)
  expect((await elsewhere.owner.get(`${elsewhere.url}/deploy_tokens/${second.id}`)).status).toBe(404)
  expect((await elsewhere.owner.delete(`${elsewhere.url}/deploy_tokens/${second.id}`)).status).toBe(404)
  expect((await owner.get(tokens)).body).toEqual([second])
})

test('lists narrow to what still opens something', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const tokens = `${url}/deploy_tokens`
  const soon = new Date(forge.clock.now().getTime() + DAY).toISOString()
  await owner.post(tokens, { name: 'lasting', scopes: ['read_repository'] })
  await owner.post(tokens, { name: 'short', scopes: ['read_repository'], expires_at: soon })
  await owner.post(tokens, { name: 'revoked', scopes: ['read_repository'] })
  await forge.app.db.updateTable('deploy_tokens').set({ revoked: true }).where('name', '=', 'revoked').execute()
  forge.clock.advance(DAY)
  const names = async (path: string, input = {}) =>
    (await forge.administrator.get(path, input)).body.map(({ name }: { name: string }) => name)
  for (const path of [tokens, '/deploy_tokens']) {
    expect(await names(path)).toEqual(['lasting', 'short', 'revoked'])
    expect(await names(path, { active: true })).toEqual(['lasting'])
    expect(await names(path, { active: false })).toHaveLength(3)
  }
  expect((await owner.get(tokens)).body).toMatchObject([
    { expired: false, revoked: false },
    { expired: true, revoked: false },
    { expired: false, revoked: true },
  ])
})

test('refuses what is no token', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const tokens = `${url}/deploy_tokens`
  const scopes = ['read_repository']
  const refusal = (text: string) => ({ message: text, error: text })
  const missing = (name: string) => ({ message: `400 (Bad request) ${name} not given`, error: `${name} is missing` })
  const tooLong = ['is too long (maximum is 255 characters)']
  const refusals: [Record<string, unknown>, unknown][] = [
    [{ scopes }, missing('name')],
    [{ name: 'x' }, missing('scopes')],
    [{ name: 'x', scopes: [] }, { message: { scopes: ["can't be blank"] } }],
    [{ name: 'x', scopes: ['api'] }, refusal('scopes does not have a valid value')],
    [{ name: ' ', scopes }, { message: { name: ["can't be blank"] } }],
    [{ name: 'x'.repeat(256), scopes }, { message: { name: tooLong } }],
    [{ name: 'x', scopes, username: 'x'.repeat(256) }, { message: { username: tooLong } }],
    [
      { name: 'x', scopes, username: 'a:b' },
      { message: { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] } },
    ],
    [{ name: 'x', scopes, expires_at: 'soon' }, refusal('expires_at is invalid')],
  ]
  for (const [input, body] of refusals)
    expect(await owner.post(tokens, input), JSON.stringify(input).slice(0, 60)).toEqual({ status: 400, body, headers })
  expect((await owner.get(tokens)).body).toEqual([])
})

test.each([
  ['projects', [401, 404, 404, 403, 403, 403, 1, 1, 1, 401]],
  ['groups', [401, 404, 404, 403, 403, 403, 403, 1, 1, 401]],
] as const)('who manages the tokens of %s, and what a list costs', async (kind, who) => {
  await using forge = await startForge()
  const source = await openSource(forge, kind)
  const tokens = `${source.url}/deploy_tokens`
  const request = { name: 'x', scopes: ['read_repository'] }
  const { body: token } = await source.owner.post(tokens, request)
  const callers = await callersOf(forge, source)
  const expected = (ok: number) => who.map((status) => (status === 1 ? ok : status))
  const table: [string, string, Record<string, unknown> | undefined, number][] = [
    ['GET', tokens, undefined, 200],
    ['GET', `${tokens}/${token.id}`, undefined, 200],
    ['GET', `${tokens}/999999`, undefined, 404],
    ['DELETE', `${tokens}/999999`, undefined, 404],
    ['POST', tokens, request, 201],
  ]
  for (const [method, path, input, ok] of table) {
    const statuses = await statusesOf(callers, (caller) => caller.request(method, path, input))
    expect(statuses, `${method} ${path}`).toEqual(expected(ok))
  }
  const all = await statusesOf(callers, (caller) => caller.get('/deploy_tokens'))
  expect(all).toEqual([401, 403, 403, 403, 403, 403, 403, 403, 200, 401])

  const few = await costOf(forge, () => source.owner.get(tokens))
  for (let n = 0; n < 10; n++) await source.owner.post(tokens, request)
  expect(await costOf(forge, () => source.owner.get(tokens))).toBe(few)
  expect((await source.owner.get(tokens, { per_page: 5 })).headers.get('x-next-page')).toBe('2')
})

test('what git asks: whether a token opens anything, and what', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const now = () => timestamp(forge.clock)
  const { url, owner, id, group } = await openSource(forge, 'projects')
  const scopes = ['read_repository']
  const sub = (await owner.post('/groups', { name: 'Sub', path: 'sub', parent_id: group.id })).body
  const deep = (await owner.post('/projects', { name: 'deep', namespace_id: sub.id })).body
  const { body: own } = await owner.post(`${url}/deploy_tokens`, { name: 'x', scopes })
  const { body: wide } = await owner.post(`${group.url}/deploy_tokens`, { name: 'x', scopes, username: 'wide' })
  const { body: narrow } = await owner.post(`/groups/${sub.id}/deploy_tokens`, { name: 'x', scopes })

  for (const [{ username, token }, expected] of [
    [own, [true, false]],
    [wide, [true, true]],
    [narrow, [false, true]],
  ] as const) {
    const found = (await findDeployToken(db, username, token, now()))!
    expect(found.scopes).toBe('read_repository')
    const reached = [await deployTokenReaches(db, found, id), await deployTokenReaches(db, found, deep.id)]
    expect(reached).toEqual(expected)
  }
  const refused = [
    ['narrow', wide.token],
    [wide.username, own.token],
    [wide.username, ''],
    ['', wide.token],
  ] as const
  for (const [username, secret] of refused) expect(await findDeployToken(db, username, secret, now())).toBeNull()

  const soon = new Date(forge.clock.now().getTime() + DAY).toISOString()
  const { body: short } = await owner.post(`${url}/deploy_tokens`, { name: 'x', scopes, expires_at: soon })
  expect(await findDeployToken(db, short.username, short.token, now())).toMatchObject({ id: short.id })
  forge.clock.advance(DAY)
  expect(await findDeployToken(db, short.username, short.token, now())).toBeNull()
  await db.updateTable('deploy_tokens').set({ revoked: true }).where('id', '=', own.id).execute()
  expect(await findDeployToken(db, own.username, own.token, now())).toBeNull()
})

test('when it was last used is noted, every ten minutes at most', async () => {
  await using forge = await startForge()
  const { url, owner, id } = await openSource(forge, 'projects')
  await fillProject(forge, id)
  const request = { name: 'robot', scopes: ['read_repository'] }
  const { username, token } = (await owner.post(`${url}/deploy_tokens`, request)).body
  const { path_with_namespace: path } = (await owner.get(url)).body
  const fetchRefs = async (password: string) => {
    const headers = { Authorization: basic(username, password) }
    const { status } = await fetch(`${forge.url}/${path}.git/info/refs?service=git-upload-pack`, { headers })
    return status
  }
  const lastUsed = async () => {
    const row = await forge.app.db.selectFrom('deploy_tokens').select('last_used_at').executeTakeFirstOrThrow()
    return row.last_used_at
  }
  expect([await fetchRefs('mdt-wrong'), await lastUsed()]).toEqual([401, null])
  expect(await fetchRefs(token)).toBe(200)
  await expect.poll(lastUsed).not.toBeNull()
  const first = await lastUsed()
  forge.clock.advance(5 * MINUTE)
  await fetchRefs(token)
  expect(await lastUsed()).toBe(first)
  forge.clock.advance(6 * MINUTE)
  await fetchRefs(token)
  await expect.poll(lastUsed).not.toBe(first)
})
