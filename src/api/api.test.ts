import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DAY, after } from '../clock.ts'
import type { User } from '../context.ts'
import { Client, startForge, type TestForge } from '../forge.ts'
import { child, endpoint, optional, policy, resource, type Endpoint } from './endpoint.ts'
import { digestOf, randomHex } from '../lib/crypto/secrets.ts'
import { RateLimiter } from './limits.ts'
import { openApiDocument } from './openapi.ts'
import { apiListener } from './router.ts'
import { id, int, text } from './wire.ts'

const missing = (name: string) => ({
  message: `400 (Bad request) ${name} not given`,
  error: name
    .split(', ')
    .map((one) => `${one} is missing`)
    .join(', '),
})
const bad = (text: string) => ({ message: text, error: text })
const badFormat = bad('message body does not match declared format')

test('routes: unknown paths, wrong methods, doubled and trailing slashes', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const table: [string, string, number, unknown][] = [
    ['GET', '/nowhere', 404, { error: '404 Not Found' }],
    ['GET', '/users/john', 404, { error: '404 Not Found' }],
    ['PATCH', '/users/1', 405, { error: '405 Not Allowed' }],
    ['DELETE', '/user', 405, { error: '405 Not Allowed' }],
    // A word in place of an id is another path.
    ['GET', '/projects/1/share/7', 405, { error: '405 Not Allowed' }],
    ['GET', '/projects/1/share/later', 404, { error: '404 Not Found' }],
    ['GET', '/projects/user/later', 404, { error: '404 Not Found' }],
    ['GET', '//user/', 200, expect.objectContaining({ username: 'root' })],
  ]
  for (const [method, path, status, body] of table) {
    expect(await administrator.request(method, path), `${method} ${path}`).toMatchObject({ status, body })
  }
  const refused = await administrator.request('PATCH', '/users/1')
  expect(refused.headers.get('allow')).toBe('GET, PUT, DELETE, HEAD, OPTIONS')
  const outside = await fetch(`${forge.url}/api/v5/users`)
  expect([outside.status, await outside.json()]).toEqual([404, { error: '404 Not Found' }])
})

test('input: every hostile request gets a clean answer, and nothing is created', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const headers = { 'PRIVATE-TOKEN': administrator.token }
  const json = { ...headers, 'Content-Type': 'application/json' }
  const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
  const person = { email: 'a@b.example', username: 'a', name: 'A', password: 'long enough' }
  const named = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n])))
  const deep = `{"name":${'['.repeat(5000)}${']'.repeat(5000)}}`
  const table: [string, Record<string, string>, string | Buffer<ArrayBuffer>, number, unknown][] = [
    ['broken JSON', json, '{"email":', 400, badFormat],
    ['a JSON array', json, '[1]', 400, badFormat],
    ['a JSON text', json, '"x"', 400, badFormat],
    ['invalid UTF-8', json, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, badFormat],
    ['NUL in JSON', json, JSON.stringify({ ...person, name: 'a\0b' }), 400, bad('name is invalid')],
    ['a lone surrogate', json, '{"name":"\\ud800","email":"e","username":"u"}', 400, bad('name is invalid')],
    ['endless nesting', json, deep, 400, bad('name is invalid')],
    ['a thousand names and one', json, named(1001), 400, badFormat],
    ['many names further in', json, `{"name":[${named(1001)}]}`, 400, badFormat],
    ['a form with many names', form, 'a=b&'.repeat(1001), 400, bad('400 Bad Request')],
    ['bad percent-encoding', form, 'name=%zz', 400, bad('400 Bad Request')],
    ['invalid UTF-8 in a form', form, 'name=%ff', 400, bad('400 Bad Request')],
    [
      'a broken multipart body',
      { ...headers, 'Content-Type': 'multipart/form-data; boundary=x' },
      'oops',
      400,
      badFormat,
    ],
    [
      'a file cut short',
      { ...headers, 'Content-Type': 'multipart/form-data; boundary=x' },
      '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\nabc',
      400,
      badFormat,
    ],
    ['multipart without a boundary', { ...headers, 'Content-Type': 'multipart/form-data' }, 'oops', 400, badFormat],
    [
      'too large JSON',
      json,
      `{"name":"${'x'.repeat(11 * 1024 * 1024)}"}`,
      413,
      { message: '413 Request Entity Too Large' },
    ],
    ['nothing', json, '', 400, missing('email, username, name')],
    ['a wrong boolean', json, JSON.stringify({ ...person, admin: 'maybe' }), 400, bad('admin is invalid')],
    [
      'a wrong integer',
      form,
      `${new URLSearchParams(person)}&projects_limit=12x`,
      400,
      bad('projects_limit is invalid'),
    ],
    ['text for a file', form, `${new URLSearchParams(person)}&avatar=x`, 400, bad('avatar is invalid')],
    ['an object for text', json, JSON.stringify({ ...person, name: { a: 1 } }), 400, bad('name is invalid')],
  ]
  for (const [what, headers, body, status, expected] of table) {
    const answer = await fetch(`${url}/api/v4/users`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()], what).toEqual([status, expected])
  }
  const query = await fetch(`${url}/api/v4/users?search=%00`, { headers })
  expect([query.status, await query.json()]).toEqual([400, bad('search is invalid')])
  expect((await administrator.get('/users')).headers.get('x-total')).toBe('1')
  expect(await forge.events()).toEqual([])
})

test('input: what is not HTTP is refused in the same shape and the connection closed', async () => {
  await using forge = await startForge()
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(forge.url).port), '127.0.0.1', () => socket.write(text))
      let received = ''
      socket.on('data', (chunk) => (received += chunk))
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  for (const text of ['NONSENSE\r\n\r\n', 'GET /api/v4/user HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n']) {
    const answer = await raw(text)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('"message":"400 Bad Request"')
  }
  const path = await raw('GET /api/v4/users/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  expect(path).toMatch(/^HTTP\/1.1 400 /)
  expect(path).toContain('{"message":"400 Bad Request","error":"400 Bad Request"}')
})

test('input: query, form, multipart and JSON say the same; the body beats the query, the path beats both', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const multipart = new FormData()
  for (const [name, value] of Object.entries({
    email: 'm@example.com',
    username: 'm',
    name: 'M',
    password: 'long enough',
    admin: 'on',
  })) {
    multipart.set(name, value)
  }
  expect(await administrator.post('/users', multipart)).toMatchObject({
    status: 201,
    body: { username: 'm', is_admin: true },
  })

  const query = new URLSearchParams({
    email: 'q@example.com',
    username: 'q',
    name: 'Q',
    password: 'long enough',
    external: '0',
  })
  expect(await administrator.post(`/users?${query}`)).toMatchObject({
    status: 201,
    body: { username: 'q', external: false },
  })

  const form = await fetch(`${url}/api/v4/users?name=Lost&admin=yes`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': administrator.token },
    body: new URLSearchParams({ email: 'f@example.com', username: 'f', name: 'Won', password: 'long enough' }),
  })
  const created = (await form.json()) as { id: number; name: string; is_admin: boolean }
  expect(created).toMatchObject({ name: 'Won', is_admin: true })

  const updated = await administrator.put(`/users/${created.id}`, { id: 1, name: 'Named by path' })
  expect(updated).toMatchObject({ status: 200, body: { id: created.id, name: 'Named by path' } })
  expect((await administrator.get('/users/1')).body.name).toBe('Administrator')
})

test('pages: sizes, ends and links', async () => {
  await using forge = await startForge()
  for (let i = 0; i < 24; i++) await forge.user()
  const { administrator, url } = forge
  const page = async (query: string) => {
    const { status, body, headers } = await administrator.get(`/users?${query}`)
    const header = (name: string) => headers.get(`x-${name}`)
    return [status, body.length, ...['total', 'total-pages', 'per-page', 'page', 'next-page', 'prev-page'].map(header)]
  }
  expect(await page('')).toEqual([200, 20, '25', '2', '20', '1', '2', ''])
  expect(await page('page=2')).toEqual([200, 5, '25', '2', '20', '2', '', '1'])
  expect(await page('per_page=1000')).toEqual([200, 25, '25', '1', '100', '1', '', ''])
  expect(await page('per_page=0&page=-3')).toEqual([200, 20, '25', '2', '20', '1', '2', ''])
  expect(await page('page=9')).toEqual([200, 0, '25', '2', '20', '9', '', ''])
  expect(await page('search=nobody-is-called-this')).toEqual([200, 0, '0', '1', '20', '1', '', ''])
  expect(await administrator.get('/users?per_page=many')).toMatchObject({
    status: 400,
    body: bad('per_page is invalid'),
  })

  const { headers } = await administrator.get(
    `/users?per_page=10&page=2&active=true&private_token=${administrator.token}&sudo=root`,
  )
  const link = (page: number, rel: string) => `<${url}/api/v4/users?active=true&page=${page}&per_page=10>; rel="${rel}"`
  expect(headers.get('link')).toBe([link(1, 'prev'), link(3, 'next'), link(1, 'first'), link(3, 'last')].join(', '))
  const beyond = await administrator.get('/users?page=9')
  expect(beyond.headers.get('link')?.match(/rel="\w+"/g)).toEqual(['rel="first"', 'rel="last"'])
})

test('conditions and headers: ETag, HEAD, request ids, origins', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const first = await administrator.get('/user', {}, { 'X-Request-Id': 'abc-1 <script>' })
  expect(first.headers.get('x-request-id')).toBe('abc-1script')
  expect(first.headers.get('cache-control')).toBe('max-age=0, private, must-revalidate')
  const tag = first.headers.get('etag')!
  expect(await administrator.get('/user', {}, { 'If-None-Match': tag })).toMatchObject({ status: 304, body: '' })
  expect(await administrator.get('/user', {}, { 'If-None-Match': 'W/"other"' })).toMatchObject({ status: 200 })
  const head = await administrator.head('/user')
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', tag])

  const own = await administrator.get('/user', {}, { Origin: url })
  expect(own.headers.get('access-control-allow-origin')).toBe(url)
  expect(own.headers.get('access-control-allow-credentials')).toBe('true')
  const foreign = await administrator.get('/user', {}, { Origin: 'https://elsewhere.example' })
  expect(foreign.headers.get('access-control-allow-origin')).toBe('*')
  expect(foreign.headers.get('access-control-allow-credentials')).toBeNull()
  const preflight = await forge.visitor.request('OPTIONS', '/users', undefined, { Origin: 'https://elsewhere.example' })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'GET, POST, HEAD, OPTIONS',
  ])
})

test('If-Unmodified-Since keeps a user that changed in between', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const before = new Date(Date.now() - 60_000).toUTCString()
  const refused = await forge.administrator.delete(`/users/${user.id}`, undefined, { 'If-Unmodified-Since': before })
  expect(refused).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  expect((await user.get('/user')).status).toBe(200)
  expect(await forge.events()).toEqual(['user.created'])
  const nonsense = await forge.administrator.delete(`/users/${user.id}`, undefined, {
    'If-Unmodified-Since': 'yesterday-ish',
  })
  expect(nonsense.status).toBe(204)
})

test('the rate limit is told on every answer and refuses beyond it, each caller alone', async () => {
  await using forge = await startForge({ settings: { RATE_LIMIT: '5' } })
  const user = await forge.user()
  forge.clock.advance(60_000 - (forge.clock.now().getTime() % 60_000)) // to the start of a minute
  const answers = []
  for (let i = 0; i < 6; i++) answers.push(await user.get('/user'))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
  expect(answers[0]!.headers.get('ratelimit-observed')).toBe('1')
  expect(answers[0]!.headers.get('ratelimit-limit')).toBe('5')
  const last = answers.at(-1)!
  expect([last.status, last.body]).toEqual([
    429,
    { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
  ])
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await forge.administrator.get('/user')).status).toBe(200)
  forge.clock.advance(60_000)
  expect((await user.get('/user')).status).toBe(200)
})

test('wrong credentials are counted too, by the address they come from', async () => {
  await using forge = await startForge({ settings: { RATE_LIMIT: '5' } })
  const user = await forge.user()
  const secret = randomHex()
  const now = forge.clock.now().toISOString()
  const revoked = { user_id: user.id, digest: digestOf(secret), scopes: 'api', created_at: now, revoked_at: now }
  await forge.app.db.insertInto('oauth_tokens').values(revoked).execute()
  forge.clock.advance(60_000 - (forge.clock.now().getTime() % 60_000)) // to the start of a minute
  const wrong: Record<string, string>[] = [
    { 'PRIVATE-TOKEN': 'x'.repeat(20) },
    { Authorization: `Bearer ${randomHex()}` },
    { Authorization: `Bearer ${secret}` },
    { 'JOB-TOKEN': 'x' },
  ]
  const statuses: number[] = []
  for (const headers of [...wrong, ...wrong]) statuses.push((await forge.as(headers).get('/user')).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  expect((await user.get('/user')).status).toBe(200)
})

test('credentials: where they may stand, and that a wrong one is refused even where none is needed', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { url } = forge
  const self = { status: 200, body: { username: user.username } }
  expect(await forge.visitor.get(`/user?private_token=${user.token}`)).toMatchObject(self)
  expect(await forge.as({ 'private-token': user.token }).get('/user')).toMatchObject(self)
  expect(await forge.as({ Authorization: `Bearer ${user.token}` }).get('/user')).toMatchObject(self)
  expect(await forge.visitor.get(`/user?access_token=${user.token}`)).toMatchObject(self)
  const basic = Buffer.from(`${user.username}:${user.token}`).toString('base64')

  const refused = { status: 401, body: { message: '401 Unauthorized' } }
  for (const client of [
    forge.visitor,
    forge.as({ Authorization: `Basic ${basic}` }),
    forge.as({ 'PRIVATE-TOKEN': 'wrong' }),
    forge.as({ Authorization: 'Bearer wrong' }),
    forge.as({ 'JOB-TOKEN': 'wrong' }),
    new Client(url, { Cookie: '_service_session=wrong' }),
  ]) {
    expect(await client.get('/user'), JSON.stringify(client.headers)).toMatchObject(refused)
  }
  expect(await forge.visitor.get('/users', { username: 'root' })).toMatchObject({ status: 200 })
  expect(await forge.as({ 'PRIVATE-TOKEN': 'wrong' }).get('/users', { username: 'root' })).toMatchObject(refused)
})

test('what one credential is shown another is not, and lists are as new as the store', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const request = { name: 'narrow', scopes: ['read_user'], expires_at: after(forge.clock, 2 * DAY).slice(0, 10) }
  const { token } = (await administrator.post('/user/personal_access_tokens', request)).body
  const narrow = forge.as({ 'PRIVATE-TOKEN': token })
  for (let i = 0; i < 2; i++) {
    expect((await administrator.get('/user')).body.private_token).toBe(administrator.token)
    expect((await narrow.get('/user')).body).not.toHaveProperty('private_token')
    expect((await narrow.get('/projects')).status).toBe(403)
  }

  const { body } = await administrator.get('/users')
  expect((await administrator.get('/users')).headers.get('x-total')).toBe(String(body.length))
  await forge.user()
  expect((await administrator.get('/users')).body).toHaveLength(body.length + 1)

  // Advances over the start of a day without a commit.
  forge.clock.advance(2 * DAY)
  expect((await narrow.get('/user')).status).toBe(401)
})

test('sudo: administrators act as others by id, username, parameter or header; nobody else does', async () => {
  await using forge = await startForge()
  const user = await forge.user({ username: 'Sue' })
  const { administrator } = forge
  const sue = { status: 200, body: { username: 'Sue' } }
  for (const sudo of [String(user.id), 'Sue', 'sue']) {
    expect(await administrator.get('/user', { sudo })).toMatchObject(sue)
    expect(await administrator.get('/user', {}, { SUDO: sudo })).toMatchObject(sue)
    expect((await administrator.get('/user')).body).toMatchObject({ username: 'root' })
  }
  expect((await administrator.get('/user', { sudo: user.id })).body).not.toHaveProperty('private_token')
  expect(
    await administrator.post('/users', {
      sudo: user.id,
      email: 'x@example.com',
      username: 'x',
      name: 'X',
      password: 'long enough',
    }),
  ).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden' },
  })
  expect(await user.get('/user', { sudo: 'root' })).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Must be admin to use sudo' },
  })
  for (const sudo of ['nobody', '99999']) {
    expect(await administrator.get('/user', { sudo })).toMatchObject({
      status: 404,
      body: { message: `404 Not Found: No user id or username for: ${sudo}` },
    })
  }
  expect(await administrator.get('/user?sudo[]=root')).toMatchObject({ status: 400, body: bad('sudo is invalid') })
  expect(await forge.visitor.get('/user', { sudo: 'root' })).toMatchObject({ status: 401 })
})

describe('children', () => {
  interface House {
    readonly street: string
    readonly viewer: User | null
  }
  const isOneOf =
    (...names: string[]) =>
    ({ viewer }: House) =>
      names.includes(viewer!.username)

  const housePolicy = policy<House>()({
    read: ({ street }) => street !== 'hidden',
    enter: isOneOf('guest', 'owner'),
    clean: isOneOf('owner'),
  })
  const house = resource({
    name: 'House',
    params: z.object({ street: text }),
    policy: housePolicy,
    find: async (_app, { street }, viewer) => (street === 'gone' ? null : { street, viewer }),
  })
  const capacityOf = (parent: typeof house) =>
    child(parent, {
      name: 'Room',
      key: 'room',
      params: { room_id: id },
      find: async (_app, { street }, { room_id }) => (room_id === 1 ? { name: `${street} ${room_id}` } : null),
    })
  const room = capacityOf(house)
  const lampPolicy = policy<House & { lamp: { of: string; on: boolean } }>()({
    read: ({ lamp }) => lamp.on,
    clean: ({ viewer, lamp }) => viewer?.username === lamp.of,
  })
  const lamp = child(room, {
    missing: 'It is dark',
    key: 'lamp',
    params: { lamp_id: id },
    policy: lampPolicy,
    find: async (_app, _room, { lamp_id }) => (lamp_id > 2 ? undefined : { of: 'guest', on: lamp_id === 1 }),
  })

  const cleaned = z.object({ room: z.string(), times: z.int().nullable() })
  const clean = (
    on: ReturnType<typeof capacityOf>,
    more: { abilityFirst?: boolean; denied?: 'unauthenticated' } = {},
  ) =>
    endpoint({
      method: 'PUT',
      path: '/houses/:street/rooms/:room_id',
      summary: 'Clean a room',
      on,
      allow: 'clean',
      ...more,
      input: z.object({ times: int.optional() }),
      output: cleaned,
      handle: async ({ subject, input }) => ({ room: subject.room.name, times: input.times ?? null }),
    })
  const light = endpoint({
    method: 'PUT',
    path: '/houses/:street/rooms/:room_id/lamps/:lamp_id',
    summary: 'Clean a lamp',
    on: lamp,
    allow: 'clean',
    input: z.object({ times: int.optional() }),
    output: cleaned,
    handle: async ({ subject }) => ({ room: subject.room.name, times: null }),
  })

  /** A server with only this endpoint, which trusts the identity that callers claim. */
  async function serve({ app }: TestForge, endpoint: Endpoint) {
    const authentication = {
      identify: (_app: unknown, { secret }: { secret: string }) => ({
        kind: 'private' as const,
        user: { id: 1, username: secret, admin: secret === 'administrator' } as User,
        scopes: null,
      }),
      provesOrigin: () => false,
      findSudoTarget: async () => null,
    }
    const gateway = { app, authentication, limiter: new RateLimiter(0, app.clock), spool: '', checkOutput: true }
    const listener = apiListener(
      gateway,
      [endpoint],
      () => '',
      () => {},
    )
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const as = (username: string, headers = {}) => new Client(url, { 'PRIVATE-TOKEN': username, ...headers })
    return { as, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  /** Each makes a valid request invalid in one way. */
  const faults = {
    parameter: { given: { times: 'often' }, answer: [400, bad('times is invalid')] },
    id: { given: { room: 'first' }, answer: [400, bad('room_id is invalid')] },
    house: { given: { house: 'gone' }, answer: [404, { message: '404 House Not Found' }] },
    hidden: { given: { house: 'hidden' }, answer: [404, { message: '404 House Not Found' }] },
    stranger: { given: { who: 'stranger' }, answer: [403, { message: '403 Forbidden' }] },
    guest: { given: { who: 'guest' }, answer: [403, { message: '403 Forbidden' }] },
    room: { given: { room: '2' }, answer: [404, { message: '404 Room Not Found' }] },
    lamp: { given: { lamp: '3' }, answer: [404, { message: 'It is dark' }] },
    dark: { given: { lamp: '2' }, answer: [404, { message: 'It is dark' }] },
    other: { given: { who: 'owner' }, answer: [403, { message: '403 Forbidden' }] },
  } as const
  type Fault = keyof typeof faults

  test.each<[string, Endpoint, string, Fault[]]>([
    ['parameters first', clean(room), 'owner', ['id', 'parameter', 'house', 'hidden', 'guest', 'room']],
    [
      'the ability first',
      clean(capacityOf({ ...house, abilityFirst: true })),
      'owner',
      ['house', 'hidden', 'guest', 'id', 'parameter', 'room'],
    ],
    [
      'one ability first',
      clean(capacityOf({ ...house, abilityFirst: 'enter' })),
      'owner',
      ['house', 'hidden', 'stranger', 'id', 'parameter', 'guest', 'room'],
    ],
    [
      'an endpoint in an order of its own',
      clean(capacityOf({ ...house, abilityFirst: 'enter' }), { abilityFirst: true }),
      'owner',
      ['house', 'hidden', 'guest', 'id', 'parameter', 'room'],
    ],
    [
      'an ability of its own, of a child of a child',
      light,
      'guest',
      ['id', 'parameter', 'house', 'hidden', 'room', 'lamp', 'dark', 'other'],
    ],
  ])('%s: of two faults the one that is checked first is told', async (_name, endpoint, who, order) => {
    await using forge = await startForge()
    await using server = await serve(forge, endpoint)
    const ask = (...wrong: Fault[]) => {
      const given = { who, house: 'elm', room: '1', lamp: '1', times: 2 as string | number }
      for (const fault of wrong) Object.assign(given, faults[fault].given)
      const path = `/houses/${given.house}/rooms/${given.room}${endpoint === light ? `/lamps/${given.lamp}` : ''}`
      return server.as(given.who).put(path, { times: given.times })
    }
    expect(await ask()).toMatchObject({ status: 200, body: { room: 'elm 1' } })
    for (const [n, first] of order.entries()) {
      const [status, body] = faults[first].answer
      expect(await ask(first), first).toMatchObject({ status, body })
      for (const second of order.slice(n + 1)) {
        // Two errors in one parameter, or errors that are reported together.
        if (Object.keys(faults[first].given)[0] === Object.keys(faults[second].given)[0]) continue
        if (first === 'id' && second === 'parameter') continue
        expect(await ask(second, first), `${first} before ${second}`).toMatchObject({ status, body })
      }
    }
  })

  test('faults of all parameters are told together, and denied as the endpoint says', async () => {
    await using forge = await startForge()
    await using server = await serve(forge, clean(room, { denied: 'unauthenticated' }))
    expect(await server.as('owner').put('/houses/elm/rooms/first', { times: 'often' })).toMatchObject({
      status: 400,
      body: bad('room_id is invalid, times is invalid'),
    })
    expect(await server.as('guest').put('/houses/elm/rooms/1')).toMatchObject({ status: 401 })
  })

  test('an optional one may be null; a deletion heeds when it changed', async () => {
    await using forge = await startForge()
    const remove = endpoint({
      method: 'DELETE',
      path: '/houses/:street/rooms/:room_id',
      summary: 'Remove a room, if it is there',
      on: optional(room),
      allow: 'clean',
      changedAt: ({ room }) => (room ? '2024-01-01T00:00:00Z' : '2000-01-01T00:00:00Z'),
      output: z.string(),
      handle: async ({ subject }) => subject.room?.name ?? 'none',
    })
    // @ts-expect-error: its own policy would have nothing to judge.
    void optional(lamp)
    await using server = await serve(forge, remove)
    const owner = server.as('owner', { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' })
    expect(await owner.delete('/houses/elm/rooms/2')).toMatchObject({ status: 200, body: 'none' })
    expect((await owner.delete('/houses/elm/rooms/1')).status).toBe(412)
    expect(await server.as('owner').delete('/houses/elm/rooms/1')).toMatchObject({ status: 200, body: 'elm 1' })
    expect((await server.as('guest').delete('/houses/elm/rooms/2')).status).toBe(403)
    expect((await server.as('owner').delete('/houses/gone/rooms/2')).status).toBe(404)
  })

  test('the document tells the parameters of all parents', () => {
    const { paths } = openApiDocument({ lamps: { light } }, '1') as { paths: Record<string, Record<string, unknown>> }
    const integer = { type: 'integer', minimum: 1 }
    expect(paths['/houses/{street}/rooms/{room_id}/lamps/{lamp_id}']!.put).toMatchObject({
      parameters: [
        { name: 'street', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'room_id', in: 'path', required: true, schema: integer },
        { name: 'lamp_id', in: 'path', required: true, schema: integer },
      ],
      responses: { 404: {} },
    })
  })
})
