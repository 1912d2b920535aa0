import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge, type Reply, type TestForge } from '../../../forge.ts'

const FORBIDDEN = { message: '403 Forbidden' }
const UNAUTHORIZED = { message: '401 Unauthorized' }

const answered = ({ status, body }: Reply) => [status, body]

async function setUp(forge: TestForge) {
  const jane = await forge.user({ username: 'jane' })
  const path = `/users/${jane.id}/impersonation_tokens`
  const create = async (input: Record<string, unknown> = {}) => {
    const { status, body } = await forge.administrator.post(path, { name: 'support', scopes: ['api'], ...input })
    expect(status).toBe(201)
    return body as { id: number; token: string }
  }
  return { jane, path, create, root: forge.administrator }
}

const showing = (forge: TestForge, token: string) => forge.as({ 'PRIVATE-TOKEN': token })

test('an administrator makes, reads and revokes a token that acts as its user', async () => {
  await using forge = await startForge()
  const { path, root } = await setUp(forge)
  const request = { name: 'support', scopes: ['api', 'read_user'], expires_at: '2099-12-31' }
  const created = await root.post(path, request)
  const { id, token } = created.body
  const record = {
    id,
    name: 'support',
    token: expect.stringMatching(/^mpat-[\w-]{20}$/),
    scopes: ['api', 'read_user'],
    active: true,
    revoked: false,
    impersonation: true,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    expires_at: '2099-12-31',
  }
  expect(answered(created)).toEqual([201, record])
  expect(answered(await root.get(`${path}/${id}`))).toEqual([200, { ...record, token }])
  expect(answered(await root.get(path))).toEqual([200, [{ ...record, token }]])
  expect(answered(await showing(forge, token).get('/user'))).toMatchObject([200, { username: 'jane' }])
  const row = await forge.app.db.selectFrom('access_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain(token)

  expect(answered(await root.delete(`${path}/${id}`))).toEqual([204, ''])
  expect(answered(await root.delete(`${path}/${id}`))).toEqual([204, ''])
  expect(answered(await showing(forge, token).get('/user'))).toEqual([401, UNAUTHORIZED])
  expect(answered(await root.get(`${path}/${id}`))).toEqual([200, { ...record, token, revoked: true, active: false }])
  expect(await forge.events()).toEqual(['user.created', 'token.created', 'token.revoked'])
})

test('takes every scope a token may have, as a list or by comma', async () => {
  await using forge = await startForge()
  const { path, root } = await setUp(forge)
  const scopes = ['api', 'read_user', 'read_api', 'read_repository', 'write_repository', 'sudo']
  expect((await root.post(path, { name: 'a', scopes })).body.scopes).toEqual(scopes)
  expect((await root.post(path, { name: 'a', scopes: scopes.join(',') })).body).toMatchObject({
    scopes,
    expires_at: null,
  })
})

test.each([
  ['no name', { scopes: ['api'] }, { message: '400 (Bad request) name not given', error: 'name is missing' }],
  ['no scopes', { name: 'a' }, { message: '400 (Bad request) scopes not given', error: 'scopes is missing' }],
  ['a blank name', { name: '', scopes: ['api'] }, { message: { name: ["can't be blank"] } }],
  ['empty scopes', { name: 'a', scopes: [] }, { message: { scopes: ["can't be blank"] } }],
  [
    'unknown scopes',
    { name: 'a', scopes: ['api', 'x'] },
    { message: { scopes: ['can only contain available scopes'] } },
  ],
  [
    'a date that is none',
    { name: 'a', scopes: ['api'], expires_at: 'soon' },
    { message: 'expires_at is invalid', error: 'expires_at is invalid' },
  ],
])('refuses a token with %s', async (_what, input, body) => {
  await using forge = await startForge()
  const { path, root } = await setUp(forge)
  expect(answered(await root.post(path, input))).toEqual([400, body])
  expect((await root.get(path)).body).toEqual([])
  expect(await forge.events()).toEqual(['user.created'])
})

test('is for administrators, who are told before anything is looked up', async () => {
  await using forge = await startForge()
  const { jane, path, create, root } = await setUp(forge)
  const { id, token } = await create()
  const before = await forge.events()
  const callers = [
    [forge.visitor, 401, UNAUTHORIZED],
    [await forge.user({ blocked: true }), 401, UNAUTHORIZED],
    [await forge.user(), 403, FORBIDDEN],
    [await forge.user({ external: true }), 403, FORBIDDEN],
    [jane, 403, FORBIDDEN],
    [showing(forge, token), 403, FORBIDDEN],
  ] as const
  const events = (await forge.events()).length
  for (const base of [path, '/users/999999/impersonation_tokens']) {
    for (const [caller, status, body] of callers) {
      for (const answer of [
        await caller.get(base, { state: 'nonsense' }),
        await caller.get(`${base}/${id}`),
        await caller.post(base, {}),
        await caller.delete(`${base}/${id}`),
      ]) {
        expect(answered(answer)).toEqual([status, body])
      }
    }
  }
  expect(await forge.events()).toHaveLength(events)
  expect(before).toEqual(['user.created', 'token.created'])
  expect((await root.get(`${path}/${id}`)).body.active).toBe(true)
})

test('finds only impersonation tokens of the user in the path', async () => {
  await using forge = await startForge()
  const { jane, path, create, root } = await setUp(forge)
  const { id } = await create()
  const personal = await jane.post('/user/personal_access_tokens', { name: 'a', scopes: ['api'] })
  const noToken = [404, { message: '404 Impersonation Token Not Found' }]
  for (const missing of [
    `${path}/999999`,
    `${path}/${personal.body.id}`,
    `/users/${root.id}/impersonation_tokens/${id}`,
  ]) {
    expect(answered(await root.get(missing))).toEqual(noToken)
    expect(answered(await root.delete(missing))).toEqual(noToken)
  }
  const noUser = [404, { message: '404 User Not Found' }]
  const nobody = '/users/999999/impersonation_tokens'
  expect(answered(await root.get(nobody))).toEqual(noUser)
  expect(answered(await root.get(`${nobody}/${id}`))).toEqual(noUser)
  expect(answered(await root.post(nobody, { name: 'a', scopes: ['api'] }))).toEqual(noUser)
  expect(answered(await root.delete(`${nobody}/${id}`))).toEqual(noUser)
  expect(answered(await root.get(`${path}/x`))).toMatchObject([400, { error: 'impersonation_token_id is invalid' }])

  expect((await showing(forge, personal.body.token).get('/user')).status).toBe(200)
  expect((await root.get(`${path}/${id}`)).body.active).toBe(true)
  expect((await jane.get('/personal_access_tokens')).body).toMatchObject([{ id: personal.body.id }])
  expect(answered(await root.get(`/personal_access_tokens/${id}`))).toEqual([404, { message: '404 Not found' }])
})

test('lists by state, in the order the tokens were made', async () => {
  await using forge = await startForge()
  const { path, create, root } = await setUp(forge)
  const tomorrow = new Date(forge.clock.now().getTime() + DAY).toISOString().slice(0, 10)
  const lasting = await create()
  const ending = await create({ expires_at: tomorrow })
  const revoked = await create()
  await root.delete(`${path}/${revoked.id}`)
  const ids = async (input?: Record<string, unknown>) =>
    (await root.get(path, input)).body.map(({ id }: { id: number }) => id)

  expect(await ids()).toEqual([lasting.id, ending.id, revoked.id])
  expect(await ids({ state: 'all' })).toEqual([lasting.id, ending.id, revoked.id])
  expect(await ids({ state: 'active' })).toEqual([lasting.id, ending.id])
  expect(await ids({ state: 'inactive' })).toEqual([revoked.id])
  forge.clock.advance(Date.parse(tomorrow) - forge.clock.now().getTime())
  expect(await ids({ state: 'active' })).toEqual([lasting.id])
  expect(await ids({ state: 'inactive' })).toEqual([ending.id, revoked.id])
  expect(answered(await showing(forge, ending.token).get('/user'))).toEqual([401, UNAUTHORIZED])

  const text = 'state does not have a valid value'
  expect(answered(await root.get(path, { state: 'x' }))).toEqual([400, { message: text, error: text }])
})

test('lists come in pages, for the same number of queries however long they are', async () => {
  await using forge = await startForge()
  const { path, create, root } = await setUp(forge)
  const list = () => forge.queries(() => root.get(path))
  for (let n = 0; n < 2; n++) await create()
  await root.get(path)
  const few = await list()
  for (let n = 0; n < 10; n++) await create()
  await root.get(path)
  expect(await list()).toBe(few)

  const { headers, body } = await root.get(path, { per_page: 5, page: 3 })
  expect(body).toHaveLength(2)
  expect(['x-total', 'x-total-pages', 'x-next-page', 'x-prev-page'].map((name) => headers.get(name))).toEqual([
    '12',
    '3',
    '',
    '2',
  ])
})

test('a token knows and ends itself, but how long it lasts is not its own to say', async () => {
  await using forge = await startForge()
  const { path, create, root } = await setUp(forge)
  const { id, token } = await create({ scopes: ['api'] })
  const self = showing(forge, token)
  expect(answered(await self.get('/personal_access_tokens/self'))).toMatchObject([200, { id, scopes: ['api'] }])
  expect(answered(await self.post('/personal_access_tokens/self/rotate'))).toEqual([403, FORBIDDEN])
  expect((await root.get(`${path}/${id}`)).body.active).toBe(true)
  expect((await self.delete('/personal_access_tokens/self')).status).toBe(204)
  expect((await root.get(`${path}/${id}`)).body).toMatchObject({ active: false, revoked: true })
})

test('a token changed since is not revoked, and a ghost gets none', async () => {
  await using forge = await startForge()
  const { path, create, root } = await setUp(forge)
  const { id } = await create()
  const conditional = (moment: number) =>
    root.delete(`${path}/${id}`, undefined, { 'If-Unmodified-Since': new Date(moment).toUTCString() })
  expect(answered(await conditional(Date.now() - HOUR))).toEqual([412, { message: '412 Precondition Failed' }])
  expect((await root.get(`${path}/${id}`)).body.active).toBe(true)
  expect((await conditional(Date.now() + HOUR)).status).toBe(204)

  await root.delete(`/users/${(await forge.user()).id}`)
  const [ghost] = (await root.get('/users', { username: 'ghost' })).body
  const refused = await root.post(`/users/${ghost.id}/impersonation_tokens`, { name: 'a', scopes: ['api'] })
  expect(answered(refused)).toEqual([403, FORBIDDEN])
})
