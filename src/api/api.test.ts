import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { DAY, after } from '../clock.ts'
import { Client, startForge } from '../forge.ts'

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
  const deep = `{"name":${'['.repeat(5000)}${']'.repeat(5000)}}`
  const table: [string, Record<string, string>, string | Buffer<ArrayBuffer>, number, unknown][] = [
    ['broken JSON', json, '{"email":', 400, badFormat],
    ['a JSON array', json, '[1]', 400, badFormat],
    ['a JSON text', json, '"x"', 400, badFormat],
    ['invalid UTF-8', json, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, badFormat],
    ['NUL in JSON', json, JSON.stringify({ ...person, name: 'a\0b' }), 400, bad('name is invalid')],
    ['a lone surrogate', json, '{"name":"\\ud800","email":"e","username":"u"}', 400, bad('name is invalid')],
    ['endless nesting', json, deep, 400, bad('name is invalid')],
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
  expect([last.status, last.body]).toEqual([429, { message: '429 Too Many Requests' }])
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await forge.administrator.get('/user')).status).toBe(200)
  forge.clock.advance(60_000)
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
  const wish = { name: 'narrow', scopes: ['read_user'], expires_at: after(forge.clock, 2 * DAY).slice(0, 10) }
  const { token } = (await administrator.post('/user/personal_access_tokens', wish)).body
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

  // Nothing is committed as a day begins.
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
