import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'
import { ACCESS_KEY, SECRET_KEY, startS3 } from '../../../../test/s3.ts'

async function ask(forge: TestForge, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(forge.url + path, { headers })
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() }
}

test('a forge that serves says so, to anyone', async () => {
  await using forge = await startForge()
  const json = 'application/json; charset=utf-8'
  expect(await ask(forge, '/-/liveness')).toEqual({ status: 200, type: json, body: '{"status":"ok"}' })
  expect(await ask(forge, '/-/readiness')).toEqual({
    status: 200,
    type: json,
    body: '{"status":"ok","checks":{"store":"ok","blobs":"ok","spool":"ok"}}',
  })
  expect(await ask(forge, '/-/health')).toEqual({ status: 200, type: 'text/plain; charset=utf-8', body: 'Mortise OK' })
})

test('readiness names what fails, and why only in the log', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const spool = join(forge.app.config.data, 'spool')
  await rm(spool, { recursive: true, force: true })
  await writeFile(spool, 'no folder')
  expect(await ask(forge, '/-/readiness')).toMatchObject({
    status: 503,
    body: '{"status":"failed","checks":{"store":"ok","blobs":"ok","spool":"failed"}}',
  })
  expect(lines.filter((line) => line.includes('"check":"spool"') && line.includes('EEXIST'))).toHaveLength(1)

  await rm(spool)
  await forge.app.store.close()
  expect(await ask(forge, '/-/readiness')).toMatchObject({
    status: 503,
    body: '{"status":"failed","checks":{"store":"failed","blobs":"ok","spool":"ok"}}',
  })
  expect(await ask(forge, '/-/liveness')).toMatchObject({ status: 200 })
})

test('readiness tells of blobs that cannot be kept; a bucket that is away takes no node out', async () => {
  const lines: string[] = []
  await using s3 = await startS3()
  const settings = { BLOBS_URL: s3.url, S3_ACCESS_KEY: ACCESS_KEY, S3_SECRET_KEY: SECRET_KEY }
  await using forge = await startForge({ settings, logTo: { write: (line) => void lines.push(line) } })
  expect(await ask(forge, '/-/readiness')).toMatchObject({ status: 200 })
  s3.mishaps.push('500')
  expect(await ask(forge, '/-/readiness')).toMatchObject({
    status: 200,
    body: '{"status":"degraded","checks":{"store":"ok","blobs":"failed","spool":"ok"}}',
  })
  expect(lines.filter((line) => line.includes('"check":"blobs"') && line.includes('500 InternalError'))).toHaveLength(1)

  await using local = await startForge()
  await writeFile(join(local.app.config.data, 'blobs'), 'no folder')
  expect(await ask(local, '/-/readiness')).toMatchObject({
    status: 503,
    body: '{"status":"failed","checks":{"store":"ok","blobs":"failed","spool":"ok"}}',
  })
})

const METRICS_TOKEN = 'for-the-watcher-only'

test('metrics are for administrators and for callers with the metrics token, from any address', async () => {
  await using forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1', METRICS_TOKEN } })
  const watching = { Authorization: `Bearer ${METRICS_TOKEN}` }
  const { administrator } = forge
  const user = await forge.user()
  await administrator.get('/user')
  const local = await ask(forge, '/-/metrics', watching)
  expect(local).toMatchObject({ status: 200, type: expect.stringContaining('text/plain; version=0.0.4') })
  expect(local.body).toMatch(/mortise_http_requests_total\{method="GET",route="\/api\/v4\/user",status="200"\} 1/)
  expect(local.body).toMatch(/mortise_jobs\{state="dead"\} 0/)
  expect(local.body).toMatch(/mortise_jobs\{state="failing"\} 0/)
  await forge.app.db.updateTable('jobs').set({ last_error: 'no' }).where('name', '=', 'instance.sweep').execute()
  expect((await ask(forge, '/-/metrics', watching)).body).toMatch(/mortise_jobs\{state="failing"\} 1/)

  const scoped = async (scope: string) => {
    const token = await administrator.post('/user/personal_access_tokens', { name: scope, scopes: [scope] })
    return token.body.token as string
  }
  const elsewhere = { 'X-Forwarded-For': '203.0.113.7' }
  const callers: [string, Record<string, string>, number][] = [
    ['a visitor', elsewhere, 401],
    ['a proxy on this machine that adds no header', {}, 401],
    ['a user of this machine', { 'PRIVATE-TOKEN': user.token }, 401],
    ['an administrator on this machine', { 'PRIVATE-TOKEN': administrator.token }, 200],
    ['the token, from elsewhere', { ...elsewhere, ...watching }, 200],
    ['the token in a header of its own', { ...elsewhere, 'PRIVATE-TOKEN': METRICS_TOKEN }, 200],
    ['a part of the token', { Authorization: watching.Authorization.slice(0, -1) }, 401],
    ['someone who claims to be local', { 'X-Forwarded-For': '127.0.0.1' }, 401],
    ['a proxy by another header', { Forwarded: 'for=127.0.0.1' }, 401],
    ['an ordinary user', { ...elsewhere, 'PRIVATE-TOKEN': user.token }, 401],
    ['a wrong token', { ...elsewhere, 'PRIVATE-TOKEN': 'wrong' }, 401],
    ['a token of too little scope', { ...elsewhere, 'PRIVATE-TOKEN': await scoped('read_user') }, 401],
    ['a token that may read', { ...elsewhere, 'PRIVATE-TOKEN': await scoped('read_api') }, 200],
    ['an administrator', { ...elsewhere, Authorization: `Bearer ${administrator.token}` }, 200],
  ]
  for (const [who, headers, status] of callers) {
    expect(await ask(forge, '/-/metrics', headers).then((answer) => answer.status), who).toBe(status)
  }
  expect((await forge.as(watching).get('/user')).status).toBe(401)
  expect((await forge.as({ 'PRIVATE-TOKEN': METRICS_TOKEN }).get('/users')).status).toBe(401)

  await using without = await startForge()
  for (const token of ['null', '', METRICS_TOKEN]) {
    const given = { Authorization: `Bearer ${token}` }
    expect(await ask(without, '/-/metrics', given).then(({ status }) => status)).toBe(401)
  }
})
