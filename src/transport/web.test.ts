import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Browser } from '../../test/browser.ts'
import { LfsClient, authorizationOf, objectOf } from '../../test/lfs.ts'
import { repositoryDir } from '../features/projects/repositories/repository.ts'
import { startForge, type TestForge } from '../forge.ts'
import { pktLine } from '../git/protocol/pkt-line.ts'
import { NO_OBJECT } from '../git/refs/update.ts'
import { findRepository } from './locations.ts'

const OBJECT = objectOf('content')

/**
 * Sends the lines as written, because `fetch` would resolve dots. The request stays open, so the server must not wait
 * for its body.
 */
async function answerTo(forge: TestForge, ...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(forge.url)
  const socket = connect(Number(port), hostname)
  socket.write(`${[...lines, 'Host: x', 'Connection: close'].join('\r\n')}\r\n\r\n`)
  const head = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
  socket.destroy()
  return head
}

const statusOf = async (forge: TestForge, ...lines: string[]) => Number((await answerTo(forge, ...lines)).slice(9, 12))

test('git without the ending is led to the address with it', async () => {
  await using forge = await startForge()
  const ask = async (path: string, method = 'GET') => {
    const { status, headers } = await fetch(forge.url + path, { method, redirect: 'manual' })
    return [status, headers.get('location')]
  }
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const refs = `info/refs?service=${service}`
    expect(await ask(`/no/such/${refs}`)).toEqual([301, `/no/such.git/${refs}`])
    expect(await ask(`//evil.example/x/${refs}`)).toEqual([301, `/evil.example/x.git/${refs}`])
  }
  expect(await ask('/no/such/info/refs?service=git-upload-pack', 'POST')).toEqual([404, null])
  expect(await ask('/no/such/info/refs')).toEqual([404, null])
})

test('what is not inside a repository goes where it went', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({ visibility: 'public' }, jane)
  const form = new FormData()
  form.set('file', new File(['x'], 'backup.git'))
  const { body: upload } = await jane.post(`/projects/${project.id}/uploads`, form)
  expect((await fetch(forge.url + upload.full_path)).status).toBe(200)
  const path = `/${project.path_with_namespace}`
  for (const [method, at] of [
    ['POST', path],
    ['PUT', `${path}.git`],
    ['POST', `${path}.git/objects/info/packs`],
    ['GET', `${path}.git/HEAD`],
    ['GET', `${path}.git/objects/aa/bb`],
    ['GET', `${path}?x=.git/info/lfs`],
    ['DELETE', `${path}.git/info/lfs/locks`],
  ] as const) {
    const answer = await fetch(forge.url + at, { method, headers: { Accept: 'application/json' } })
    expect([answer.status, await answer.json()], `${method} ${at}`).toEqual([404, { error: '404 Not Found' }])
  }
})

test('security 10: no path leads out of a repository', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { path_with_namespace: path } = await forge.project({}, jane)
  await new LfsClient(forge, path, authorizationOf(jane)).put(OBJECT)
  const hostile = [
    `/${path}.git/gitlab-lfs/objects/..%2f..%2f..%2fmortise.sqlite`,
    `/${path}.git/gitlab-lfs/objects/../../../mortise.sqlite`,
    `/${path}.git/gitlab-lfs/../../../secret.key`,
    `/x/%2e%2e/${path}.git/gitlab-lfs/objects/${OBJECT.oid}`,
    `/x/../${path}.git/gitlab-lfs/objects/${OBJECT.oid}`,
    `/${path.replace('/', '%2F')}.git/gitlab-lfs/objects/${OBJECT.oid}`,
    `/${path}%00.git/gitlab-lfs/objects/${OBJECT.oid}`,
    `/${path}.git/info%2Flfs/locks`,
    `/1.git/gitlab-lfs/objects/${OBJECT.oid}`,
  ]
  const credential = `Authorization: ${authorizationOf(jane)}`
  for (const address of hostile) expect(await statusOf(forge, `GET ${address} HTTP/1.1`, credential), address).toBe(404)
  const broken = `GET /${path}.git/gitlab-lfs/objects/%zz HTTP/1.1`
  expect(await statusOf(forge, broken, credential)).toBe(400)
  const right = `GET /${path}.git/gitlab-lfs/objects/${OBJECT.oid} HTTP/1.1`
  expect(await statusOf(forge, right, credential)).toBe(200)
})

test('a body is read by nobody before its sender is known, however large', async () => {
  await using forge = await startForge()
  const { path_with_namespace: path } = await forge.project({ visibility: 'public' })
  const head = [`PUT /${path}.git/gitlab-lfs/objects/${OBJECT.oid}/900000000000 HTTP/1.1`]
  const answer = await answerTo(forge, ...head, 'Content-Length: 900000000000')
  expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  expect(await statusOf(forge, ...head, 'Transfer-Encoding: chunked', 'Content-Type: text/html')).toBe(401)
  expect(await statusOf(forge, ...head, 'Expect: 100-continue', 'Content-Length: 9')).toBe(401)
})

test('the old protocol is not spoken, and a visitor is asked for a name', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { path_with_namespace: path } = await forge.project({ visibility: 'public' }, jane)
  const refs = await fetch(`${forge.url}/${path}.git/info/refs?service=git-upload-pack`, { method: 'HEAD' })
  const type = 'application/x-git-upload-pack-advertisement'
  expect([refs.status, refs.headers.get('content-type'), await refs.text()]).toEqual([200, type, ''])
  for (const query of ['', '?service=', '?service=git-upload-archive', '?service=upload-pack']) {
    const url = `${forge.url}/${path}.git/info/refs${query}`
    const visitor = await fetch(url)
    expect([visitor.status, visitor.headers.get('www-authenticate')], query).toEqual([401, 'Basic realm="Mortise"'])
    expect((await fetch(url, { headers: { Authorization: authorizationOf(jane) } })).status, query).toBe(403)
  }
})

test('what is sent to git comes from git, as it says it does', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { path_with_namespace: path } = await forge.project({ visibility: 'public' }, jane)
  const before = await forge.events()
  const ask = async (service: string, type: string, body: string | Buffer, encoding?: string) => {
    const answer = await fetch(`${forge.url}/${path}.git/git-${service}`, {
      method: 'POST',
      headers: {
        Authorization: authorizationOf(jane),
        'Content-Type': type,
        'Git-Protocol': 'version=2',
        ...(encoding && { 'Content-Encoding': encoding }),
      },
      body: Buffer.from(body),
      signal: AbortSignal.timeout(5000),
    })
    return [answer.status, await answer.text()]
  }
  for (const service of ['upload-pack', 'receive-pack']) {
    const right = `application/x-git-${service}-request`
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
      expect(await ask(service, type, '0000'), type).toEqual([415, 'Unsupported Media Type\n'])
    }
    for (const body of ['this is no gzip', Buffer.alloc(1_000_000)])
      expect(await ask(service, right, body, 'gzip')).toEqual([400, 'The body does not match its Content-Encoding.\n'])
    expect(await ask(service, right, gzipSync('0000'), 'gzip')).toEqual([200, ''])
    for (const body of ['not of git at all', '0032cut off', '0008abcd0000'])
      expect(await ask(service, right, body), body).toEqual([400, expect.stringContaining('protocol error')])
  }
  // A full disk.
  const { project } = (await findRepository(forge.app, path))!
  await rm(join(repositoryDir(forge.app, project), 'objects'), { recursive: true })
  const creation = `${pktLine(`${NO_OBJECT} ${'1'.repeat(40)} refs/heads/x\0report-status`).toString()}0000`
  const push = 'application/x-git-receive-pack-request'
  expect(await ask('receive-pack', push, creation)).toEqual([
    200,
    '000eunpack ok\n0023ng refs/heads/x internal error\n0000',
  ])
  expect(await forge.events()).toEqual(before)
})

test('a session opens no repository', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password: 'correct horse' })
  const { path_with_namespace: path } = await forge.project({}, jane)
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, 'correct horse')
  expect((await browser.get(`/${path}.git/info/lfs/locks`)).status).toBe(401)
})
