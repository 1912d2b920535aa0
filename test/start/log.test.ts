import { once } from 'node:events'
import { connect } from 'node:net'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../src/forge.ts'
import { openLog } from '../../src/log.ts'

const SECRET = 'hush-hush-hush-hush'

const parameters = ['private_token', 'access_token', 'bearer_token', 'job_token', 'password', 'refresh_token', 'token']
const headers = [
  { 'PRIVATE-TOKEN': SECRET },
  { Authorization: `Bearer ${SECRET}` },
  { Authorization: `Basic ${Buffer.from(`root:${SECRET}`).toString('base64')}` },
  { 'JOB-TOKEN': SECRET },
  { 'RUNNER-TOKEN': SECRET },
  { Cookie: `_service_session=${SECRET}` },
  { 'X-CSRF-Token': SECRET },
]

/** Every way to present a secret, on every kind of path: known, unknown, malformed. */
async function showEverywhere({ url }: TestForge, statuses: Set<number>): Promise<number> {
  const paths = ['/api/v4/user', '/api/v4/users', '/api/v4/users/1', '/api/v4/nothing', '/nothing', '/api/v4/users/%zz']
  let count = 0
  const send = async (method: string, path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, { method, redirect: 'manual', ...init })
    await answer.text()
    statuses.add(answer.status)
    count++
  }
  for (const path of paths) {
    for (const name of parameters) {
      await send('GET', `${path}?${name}=${SECRET}`)
      await send('GET', `${path}?${name}=${SECRET}&broken=%zz`)
      await send('POST', path, { body: new URLSearchParams({ [name]: SECRET }) })
      await send('PATCH', path, { body: JSON.stringify({ [name]: SECRET, inner: { [name]: SECRET } }) })
    }
    for (const shown of headers) for (const method of ['GET', 'PUT']) await send(method, path, { headers: shown })
    await send('POST', path, { headers: { 'Content-Type': 'application/json' }, body: `{"password":"${SECRET}"` })
  }
  return count
}

/** Sends what no client library would send; answered with 400 before there is a route. */
async function sendRaw({ url }: TestForge, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk))
  socket.end(text)
  await once(socket, 'close')
  return answer
}

test('no way of showing a secret brings it into the log', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const statuses = new Set<number>()
  const count = await showEverywhere(forge, statuses)
  for (const status of [400, 401, 404, 405]) expect(statuses).toContain(status)

  expect(await sendRaw(forge, `GET /api/v4/users?private_token=${SECRET} HTTP/9.9\r\n\r\n`)).toContain(
    '400 Bad Request',
  )
  expect(await sendRaw(forge, `GET /api/v4/us ers?private_token=${SECRET} HTTP/1.1\r\n\r\n`)).toContain(
    '400 Bad Request',
  )
  expect(await sendRaw(forge, `PRIVATE-TOKEN: ${SECRET}\r\n\r\n`)).toContain('400 Bad Request')

  await sql`alter table users rename to lost`.execute(forge.app.db)
  await sql`alter table access_tokens rename to lost_tokens`.execute(forge.app.db)
  const failed = new Set<number>()
  const more = await showEverywhere(forge, failed)
  expect(failed).toContain(500)

  const requests = lines.filter((line) => line.includes('"msg":"request"'))
  expect(requests).toHaveLength(count + more)
  expect(lines.some((line) => line.includes('"msg":"request failed"') && line.includes('"stack"'))).toBe(true)
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  expect(lines.filter((line) => line.includes(Buffer.from(`root:${SECRET}`).toString('base64')))).toEqual([])
})

test('a line has fields: who, what without the query, and the id of its request', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const { headers } = await forge.administrator.get('/users/1', { password: SECRET })
  await expect
    .poll(() => lines.map((line) => JSON.parse(line)).find((line) => line.msg === 'request'))
    .toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      part: 'http',
      reqId: headers.get('x-request-id'),
      user: 'root',
      method: 'GET',
      path: '/api/v4/users/1',
      route: expect.stringMatching(/^\/api\/v4\/users\/:id/),
      status: 200,
      ms: expect.any(Number),
      ip: '127.0.0.1',
      msg: 'request',
    })
})

test('what is named like a secret is left out, however deep; of an error only the harmless', async () => {
  const lines: string[] = []
  const log = await openLog('info', { write: (line) => void lines.push(line) })
  const cause = Object.assign(new Error('inner'), { detail: SECRET })
  const err = Object.assign(new Error('outer', { cause }), { code: 'E1', detail: SECRET, parameters: [SECRET] })
  log
    .child({ part: 'test' })
    .error({ err, headers: { 'Private-Token': SECRET, list: [{ token: SECRET }] }, kept: { a: 1 } })
  log.error({
    req: { method: 'GET', url: `/x?private_token=${SECRET}` },
    deep: { a: { b: { c: { d: { e: SECRET } } } } },
  })
  expect(lines.join('')).not.toContain(SECRET)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    part: 'test',
    err: { type: 'Error', message: 'outer', code: 'E1', cause: { message: 'inner' } },
    headers: { 'Private-Token': '[hidden]', list: [{ token: '[hidden]' }] },
    kept: { a: 1 },
  })
})

test('log lines name users of sessions, git and sudo, and hide secrets in paths', async () => {
  const lines: { method?: string; path?: string; user?: string | null; sudo?: string }[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(JSON.parse(line)) } })
  const { administrator, visitor, url } = forge
  const jane = await forge.user({ username: 'jane' })
  const { id } = await forge.project({ path: 'saw', visibility: 'public' }, jane)
  const form = new FormData()
  form.set('file', new Blob(['x']), 'x.txt')
  const { full_path } = (await jane.post(`/projects/${id}/uploads`, form)).body
  const secret = full_path.split('/').at(-2)
  const basic = `Basic ${Buffer.from(`jane:${jane.token}`).toString('base64')}`
  await administrator.get('/user', { sudo: 'jane' })
  await visitor.get(`/projects/${id}?x=1`)
  await visitor.get(`/projects/${id}/uploads/${secret}/x.txt`)
  await fetch(url + full_path, { headers: { 'PRIVATE-TOKEN': jane.token } })
  await fetch(`${url}/jane/saw.git/info/refs?service=git-upload-pack`, { headers: { authorization: basic } })
  await fetch(`${url}/-/invites/${secret}`)
  const loggedLines = () =>
    lines
      .flatMap(({ method, path, user, sudo }) => (method === 'GET' ? [{ path, user, ...(sudo && { sudo }) }] : []))
      .slice(-6)
      .toSorted((one, other) => one.path!.localeCompare(other.path!))
  // A line is written after its answer was sent, which may be after the next request.
  await expect.poll(loggedLines).toEqual([
    { path: '/-/invites/[hidden]', user: null },
    { path: `/api/v4/projects/${id}`, user: null },
    { path: `/api/v4/projects/${id}/uploads/[hidden]/x.txt`, user: null },
    { path: '/api/v4/user', user: 'root', sudo: 'jane' },
    { path: '/jane/saw.git/info/refs', user: 'jane' },
    { path: '/jane/saw/uploads/[hidden]/x.txt', user: 'jane' },
  ])
  expect(JSON.stringify(lines)).not.toContain(secret)
})
