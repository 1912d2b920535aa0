import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { DAY, HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type Client, type Reply, type TestForge } from '../../../forge.ts'

const OWN = '/user/personal_access_tokens'
const ALL = '/personal_access_tokens'
const UNAUTHORIZED = { message: '401 Unauthorized' }

const answered = ({ status, body }: Reply) => [status, body]
const dayIn = (forge: TestForge, days: number) =>
  new Date(forge.clock.now().getTime() + days * DAY).toISOString().slice(0, 10)

async function create(person: Client, input: Record<string, unknown> = {}) {
  const { status, body } = await person.post(OWN, { name: 'ci', scopes: ['api'], ...input })
  expect(status).toBe(201)
  return body as { id: number; token: string }
}

const showing = (forge: TestForge, token: string) => forge.as({ 'PRIVATE-TOKEN': token })

const names = ({ body }: Reply) => (body as { name: string }[]).map(({ name }) => name)

test('a user makes a token, sees its value once and works with it until it is revoked', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const request = {
    name: 'laptop',
    description: 'at home',
    scopes: ['api', 'read_user', 'api'],
    expires_at: '2099-12-31',
  }
  const created = await jane.post(OWN, request)

  const { id, token } = created.body
  const record = {
    id,
    name: 'laptop',
    revoked: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    description: 'at home',
    scopes: ['api', 'read_user'],
    user_id: jane.id,
    last_used_at: null,
    active: true,
    expires_at: '2099-12-31',
  }
  expect(answered(created)).toEqual([201, { ...record, token: expect.stringMatching(/^mpat-[\w-]{20}$/) }])
  expect(answered(await jane.get(ALL))).toEqual([200, [record]])
  expect(answered(await jane.get(`${ALL}/${id}`))).toEqual([200, { ...record, last_used_ips: [] }])
  expect(answered(await showing(forge, token).get('/user'))).toMatchObject([200, { username: 'jane' }])

  expect(answered(await jane.delete(`${ALL}/${id}`))).toEqual([204, ''])
  expect(answered(await jane.delete(`${ALL}/${id}`))).toEqual([204, ''])
  expect(answered(await showing(forge, token).get('/user'))).toEqual([401, UNAUTHORIZED])
  expect(answered(await jane.get(`${ALL}/${id}`))).toMatchObject([200, { revoked: true, active: false }])
  expect(await forge.events()).toEqual(['user.created', 'token.created', 'token.revoked'])
})

test('only the digest of a personal token is kept', async () => {
  await using forge = await startForge()
  const { id, token } = await create(await forge.user())
  const row = await forge.app.db.selectFrom('access_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(row.sealed).toBeNull()
  expect(JSON.stringify(row)).not.toContain(token)
})

test('a token in an address reaches neither the log nor the links to other pages', async () => {
  let log = ''
  await using forge = await startForge({ logTo: { write: (line) => void (log += line) } })
  const jane = await forge.user()
  const { token } = await create(jane)
  await create(jane)
  const listed = await forge.visitor.get(ALL, { private_token: token, per_page: 1 })
  expect(listed.headers.get('link')).toContain('page=2')
  expect(listed.headers.get('link')).not.toContain(token)
  expect((await forge.visitor.get(ALL, { private_token: `${token}x` })).status).toBe(401)
  expect(log).toContain(ALL)
  expect(log).not.toContain(token)
})

test('an administrator makes a token for somebody else', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const path = `/users/${jane.id}/personal_access_tokens`
  const { status, body } = await forge.administrator.post(path, { name: 'bot', scopes: ['read_user', 'sudo'] })
  expect([status, body.user_id, body.scopes, body.expires_at]).toEqual([201, jane.id, ['read_user', 'sudo'], null])
  expect(answered(await showing(forge, body.token).get('/user'))).toMatchObject([200, { username: 'jane' }])
})

test.each([
  ['no name', { scopes: ['api'] }, { message: '400 (Bad request) name not given', error: 'name is missing' }],
  ['no scopes', { name: 'a' }, { message: '400 (Bad request) scopes not given', error: 'scopes is missing' }],
  ['a blank name', { name: ' ', scopes: ['api'] }, { message: { name: ["can't be blank"] } }],
  [
    'a long name and a long description',
    { name: 'a'.repeat(256), description: 'b'.repeat(256), scopes: ['api'] },
    {
      message: {
        name: ['is too long (maximum is 255 characters)'],
        description: ['is too long (maximum is 255 characters)'],
      },
    },
  ],
  ['empty scopes', { name: 'a', scopes: [] }, { message: { scopes: ["can't be blank"] } }],
  ['an unknown scope', { name: 'a', scopes: 'api,x' }, { message: { scopes: ['can only contain available scopes'] } }],
  [
    'a sign-in scope',
    { name: 'a', scopes: ['openid'] },
    { message: { scopes: ['can only contain available scopes'] } },
  ],
  ['sudo', { name: 'a', scopes: ['api', 'sudo'] }, { message: { scopes: ['can only contain available scopes'] } }],
  [
    'a date that is none',
    { name: 'a', scopes: ['api'], expires_at: '2099-02-30' },
    { message: 'expires_at is invalid', error: 'expires_at is invalid' },
  ],
])('refuses a token with %s', async (_what, input, body) => {
  await using forge = await startForge()
  const jane = await forge.user()
  expect(answered(await jane.post(OWN, input))).toEqual([400, body])
  expect((await jane.get(ALL)).body).toEqual([])
  expect(await forge.events()).toEqual(['user.created'])
})

test('sudo passes only from an administrator whose own credential has it', async () => {
  await using forge = await startForge()
  const root = forge.administrator
  const plain = showing(forge, (await create(root)).token)
  const refused = [400, { message: { scopes: ['can only contain available scopes'] } }]
  const request = { name: 'a', scopes: ['api', 'sudo'] }
  expect(answered(await plain.post(OWN, request))).toEqual(refused)
  expect(answered(await plain.post('/users/1/personal_access_tokens', request))).toEqual(refused)

  const mighty = await create(root, request)
  expect(answered(await plain.post(`${ALL}/${mighty.id}/rotate`))).toEqual([403, { message: '403 Forbidden' }])
  const passed = await create(showing(forge, mighty.token), request)
  const jane = await forge.user({ username: 'jane' })
  expect(answered(await showing(forge, passed.token).get('/user', { sudo: jane.id }))).toMatchObject([
    200,
    { username: 'jane' },
  ])
  expect(answered(await plain.get('/user', { sudo: jane.id }))).toEqual([
    403,
    { message: '403 Forbidden - Private token must be specified in order to use sudo' },
  ])
})

const CALLERS = ['visitor', 'stranger', 'external', 'blocked', 'owner', 'administrator'] as const

test.each([
  ['GET', ALL, [401, 200, 200, 401, 200, 200]],
  ['GET', `${ALL}?user_id=OWNER`, [401, 401, 401, 401, 200, 200]],
  ['GET', `${ALL}/ID`, [401, 401, 401, 401, 200, 200]],
  ['GET', `${ALL}/999999`, [401, 401, 401, 401, 401, 404]],
  ['DELETE', `${ALL}/ID`, [401, 401, 401, 401, 204, 204]],
  ['DELETE', `${ALL}/999999`, [401, 401, 401, 401, 401, 404]],
  ['POST', `${ALL}/ID/rotate`, [401, 401, 401, 401, 200, 200]],
  ['POST', `${ALL}/999999/rotate`, [401, 401, 401, 401, 401, 404]],
  // These callers present the private token of the account, which is no personal access token.
  ['GET', `${ALL}/self`, [401, 404, 404, 401, 404, 404]],
  ['DELETE', `${ALL}/self`, [401, 404, 404, 401, 404, 404]],
  ['POST', `${ALL}/self/rotate`, [401, 404, 404, 401, 404, 404]],
  ['POST', OWN, [401, 201, 201, 401, 201, 201]],
  ['POST', '/users/OWNER/personal_access_tokens', [401, 403, 403, 401, 403, 201]],
])('who may %s %s', async (method, path, expected) => {
  await using forge = await startForge()
  const owner = await forge.user()
  const callers = {
    visitor: forge.visitor,
    stranger: await forge.user(),
    external: await forge.user({ external: true }),
    blocked: await forge.user({ blocked: true }),
    owner,
    administrator: forge.administrator,
  }
  const got: Record<string, number> = {}
  for (const name of CALLERS) {
    const { id, token } = await create(owner)
    const exact = path.replace('ID', String(id)).replace('OWNER', String(owner.id))
    const input = method === 'POST' ? { name: 'n', scopes: ['api'] } : undefined
    got[name] = (await callers[name].request(method, exact, input)).status
    const ended = got[name] < 300 && path.includes('ID') && method !== 'GET'
    expect([name, (await showing(forge, token).get('/user')).status]).toEqual([name, ended ? 401 : 200])
  }
  expect(got).toEqual(Object.fromEntries(CALLERS.map((name, n) => [name, expected[n]])))
})

test('a token knows itself whatever its scope; other credentials have no self', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id, token } = await create(jane, { scopes: ['read_repository'] })
  const self = showing(forge, token)
  expect(answered(await self.get(`${ALL}/self`))).toMatchObject([200, { id, scopes: ['read_repository'] }])
  expect((await self.get('/user')).status).toBe(403)
  expect(answered(await jane.get(`${ALL}/self`))).toEqual([404, { message: '404 Personal Access Token Not Found' }])
  expect(answered(await self.delete(`${ALL}/self`))).toEqual([204, ''])
  expect(answered(await self.get(`${ALL}/self`))).toEqual([401, UNAUTHORIZED])
  expect(answered(await jane.get(`${ALL}/nonsense`))).toMatchObject([400, { error: 'id is invalid' }])
})

test('rotation ends a token and makes its successor', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const first = await create(jane, { name: 'ci', description: 'runs', scopes: ['api', 'read_user'] })
  const second = await jane.post(`${ALL}/${first.id}/rotate`)
  expect(answered(second)).toEqual([
    200,
    {
      id: expect.any(Number),
      name: 'ci',
      description: 'runs',
      scopes: ['api', 'read_user'],
      user_id: jane.id,
      revoked: false,
      active: true,
      created_at: expect.any(String),
      last_used_at: null,
      expires_at: dayIn(forge, 7),
      token: expect.stringMatching(/^mpat-/),
    },
  ])
  expect(second.body.id).not.toBe(first.id)
  expect((await jane.get(`${ALL}/${first.id}`)).body).toMatchObject({ revoked: true, active: false })

  const third = await showing(forge, second.body.token).post(`${ALL}/self/rotate`, { expires_at: '2099-01-01' })
  expect(answered(third)).toMatchObject([200, { expires_at: '2099-01-01', scopes: ['api', 'read_user'] }])
  expect((await showing(forge, third.body.token).get('/user')).status).toBe(200)
  expect(await forge.events()).toEqual([
    'user.created',
    'token.created',
    'token.revoked',
    'token.created',
    'token.revoked',
    'token.created',
  ])
})

test('a token that has ended is not rotated, and of two rotations at once only one succeeds', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const revoked = await create(jane)
  await jane.delete(`${ALL}/${revoked.id}`)
  const expired = await create(jane, { expires_at: '2020-01-01' })
  const before = await forge.events()
  expect(answered(await jane.post(`${ALL}/${revoked.id}/rotate`))).toEqual([400, { message: 'token already revoked' }])
  expect(answered(await jane.post(`${ALL}/${expired.id}/rotate`))).toEqual([400, { message: 'token already expired' }])
  expect(await forge.events()).toEqual(before)

  const { id } = await create(jane)
  const rotate = () => jane.post(`${ALL}/${id}/rotate`)
  const both = await atOnce(forge, rotate, rotate)
  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 400]))
  expect((await jane.get(ALL, { state: 'active' })).body).toHaveLength(1)
})

test('showing a rotated token again revokes its whole family, and no other token', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const other = await create(jane)
  const first = await create(jane)
  const second = (await jane.post(`${ALL}/${first.id}/rotate`)).body
  const third = (await jane.post(`${ALL}/${second.id}/rotate`)).body
  expect((await showing(forge, third.token).get('/user')).status).toBe(200)

  for (const copy of [second, first]) expect((await showing(forge, copy.token).get('/user')).status).toBe(401)

  expect(answered(await showing(forge, third.token).get('/user'))).toEqual([401, UNAUTHORIZED])
  expect((await showing(forge, other.token).get('/user')).status).toBe(200)
  expect((await forge.events()).filter((name) => name === 'token.revoked')).toHaveLength(3)
})

test('a token opens nothing from its date on, nor while its owner is blocked', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id, token } = await create(jane, { expires_at: dayIn(forge, 1) })
  const lasting = showing(forge, (await create(jane)).token)
  const self = showing(forge, token)
  expect((await self.get('/user')).status).toBe(200)
  const midnight = Date.parse(dayIn(forge, 1))
  forge.clock.advance(midnight - forge.clock.now().getTime())
  expect(answered(await self.get('/user'))).toEqual([401, UNAUTHORIZED])
  expect((await jane.get(`${ALL}/${id}`)).body).toMatchObject({ active: false, revoked: false })

  expect((await lasting.get('/user')).status).toBe(200)
  await forge.administrator.post(`/users/${jane.id}/block`)
  expect(answered(await lasting.get('/user'))).toEqual([401, UNAUTHORIZED])
  await forge.administrator.post(`/users/${jane.id}/unblock`)
  expect((await lasting.get('/user')).status).toBe(200)
})

test('the last use is noted every ten minutes, with the last five addresses', async () => {
  await using forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })
  const jane = await forge.user()
  const { id, token } = await create(jane)
  const from = (n: number) => forge.as({ 'PRIVATE-TOKEN': token, 'X-Forwarded-For': `10.0.0.${n}` }).get('/user')
  const read = async () => (await jane.get(`${ALL}/${id}`)).body

  await from(1)
  await expect.poll(async () => (await read()).last_used_ips).toEqual(['10.0.0.1'])
  const noted = (await read()).last_used_at
  forge.clock.advance(9 * MINUTE)
  await from(2)
  await from(2)
  expect(await read()).toMatchObject({ last_used_at: noted, last_used_ips: ['10.0.0.1'] })

  for (const n of [2, 3, 4, 2, 5, 6]) {
    forge.clock.advance(11 * MINUTE)
    await from(n)
    await expect.poll(async () => (await read()).last_used_ips.at(-1)).toBe(`10.0.0.${n}`)
  }
  const after = await read()
  expect(after.last_used_ips).toEqual(['10.0.0.3', '10.0.0.4', '10.0.0.2', '10.0.0.5', '10.0.0.6'])
  expect(Date.parse(after.last_used_at) - Date.parse(noted)).toBeGreaterThanOrEqual(75 * MINUTE)
})

test('lists narrow by every filter and sort both ways', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const joe = await forge.user()
  await create(jane, { name: 'b_early', expires_at: '2098-01-01' })
  forge.clock.advance(HOUR)
  const between = forge.clock.now().toISOString()
  forge.clock.advance(HOUR)
  await create(jane, { name: 'C Late', expires_at: '2099-01-01' })
  const gone = await create(jane, { name: 'a gone' })
  await jane.delete(`${ALL}/${gone.id}`)
  const used = await create(jane, { name: 'd expired', expires_at: dayIn(forge, 1) })
  await showing(forge, used.token).get('/user')
  await expect.poll(async () => (await jane.get(`${ALL}/${used.id}`)).body.last_used_at).not.toBeNull()
  forge.clock.advance(DAY)
  await create(joe, { name: 'foreign' })
  const now = forge.clock.now().toISOString()

  for (const [filter, expected] of [
    [{}, ['b_early', 'C Late', 'a gone', 'd expired']],
    [{ user_id: jane.id }, ['b_early', 'C Late', 'a gone', 'd expired']],
    [{ state: 'active' }, ['b_early', 'C Late']],
    [{ state: 'inactive' }, ['a gone', 'd expired']],
    [{ revoked: true }, ['a gone']],
    [{ revoked: false }, ['b_early', 'C Late', 'd expired']],
    [{ search: 'LATE' }, ['C Late']],
    [{ search: '_' }, ['b_early']],
    [{ search: '%' }, []],
    [{ created_before: between }, ['b_early']],
    [{ created_after: between }, ['C Late', 'a gone', 'd expired']],
    [{ last_used_before: now }, ['d expired']],
    [{ last_used_after: now }, []],
    [{ expires_before: '2098-06-01' }, ['b_early', 'd expired']],
    [{ expires_after: '2098-06-01' }, ['C Late']],
    [{ sort: 'created_asc' }, ['b_early', 'C Late', 'a gone', 'd expired']],
    [{ sort: 'created_desc' }, ['d expired', 'a gone', 'C Late', 'b_early']],
    [{ sort: 'expires_asc' }, ['d expired', 'b_early', 'C Late', 'a gone']],
    [{ sort: 'expires_desc' }, ['C Late', 'b_early', 'd expired', 'a gone']],
    [{ sort: 'last_used_asc' }, ['d expired', 'b_early', 'C Late', 'a gone']],
    [{ sort: 'last_used_desc' }, ['d expired', 'a gone', 'C Late', 'b_early']],
    [{ sort: 'name_asc', revoked: true }, ['a gone']],
  ] as const) {
    const answer = await jane.get(ALL, filter)
    expect([filter, names(answer)]).toEqual([filter, expected])
    expect(answer.headers.get('x-total')).toBe(String(expected.length))
  }
  const sorted = names(await jane.get(ALL, { sort: 'name_asc' }))
  expect(names(await jane.get(ALL, { sort: 'name_desc' }))).toEqual(sorted.toReversed())

  expect(names(await forge.administrator.get(ALL, { search: 'foreign' }))).toEqual(['foreign'])
  expect(names(await forge.administrator.get(ALL, { user_id: joe.id }))).toEqual(['foreign'])
  expect(answered(await jane.get(ALL, { user_id: joe.id }))).toEqual([401, UNAUTHORIZED])
  for (const name of ['state', 'sort']) {
    const text = `${name} does not have a valid value`
    expect(answered(await jane.get(ALL, { [name]: 'x' }))).toEqual([400, { message: text, error: text }])
  }
})

test('lists come in pages, for the same number of queries however long they are', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const list = () => forge.queries(() => jane.get(ALL, { state: 'active' }))
  for (let n = 0; n < 2; n++) await create(jane)
  await jane.get(ALL)
  const few = await list()
  for (let n = 0; n < 10; n++) await create(jane)
  expect(await list()).toBe(few)

  const { headers, body } = await jane.get(ALL, { per_page: 5, page: 2 })
  expect(body).toHaveLength(5)
  expect(['x-total', 'x-total-pages', 'x-next-page', 'x-prev-page'].map((name) => headers.get(name))).toEqual([
    '12',
    '3',
    '3',
    '1',
  ])
})

test('a token changed since is not revoked', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id, token } = await create(jane)
  const conditional = (moment: number) =>
    jane.delete(`${ALL}/${id}`, undefined, { 'If-Unmodified-Since': new Date(moment).toUTCString() })
  expect(answered(await conditional(Date.now() - HOUR))).toEqual([412, { message: '412 Precondition Failed' }])
  expect((await showing(forge, token).get('/user')).status).toBe(200)
  expect((await conditional(Date.now() + HOUR)).status).toBe(204)
})
