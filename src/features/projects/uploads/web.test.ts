import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { PIXEL } from '../../../../test/samples.ts'
import { CALLERS, callersOf, openSource } from '../../../../test/sources.ts'
import { startForge, type Client, type Person, type TestForge } from '../../../forge.ts'

async function upload(person: Client, project: string, content: string | Uint8Array, filename: string, type = '') {
  const form = new FormData()
  form.set('file', new Blob([Buffer.from(content)], { type }), filename)
  const { body } = await person.post(`${project}/uploads`, form)
  return body as { url: string; full_path: string }
}

const read = ({ url }: TestForge, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url + encodeURI(path), { headers, method, redirect: 'manual' })

/** Sends the path as written, because `fetch` would resolve its dots. */
async function statusOf({ url }: TestForge, path: string): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  return Number((await text(socket)).slice(9, 12))
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
const PAGE = '<!doctype html><script>alert(1)</script>'

test('a file is shown as what its bytes are, or handed over, and never as a page', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const polyglot = Buffer.concat([PIXEL, Buffer.from(PAGE + SVG)])
  const table: [string, string | Uint8Array, string, string][] = [
    ['dk.png', PIXEL, 'image/png', 'inline; filename="dk.png"'],
    ['page.html', PIXEL, 'image/png', 'inline; filename="page.html"'],
    ['polyglot.html', polyglot, 'image/png', 'inline; filename="polyglot.html"'],
    ['notes.txt', 'hello', 'text/plain; charset=utf-8', 'inline; filename="notes.txt"'],
    ['script.js', 'alert(1)', 'text/plain; charset=utf-8', 'inline; filename="script.js"'],
    ['page.html', PAGE, 'application/octet-stream', 'attachment; filename="page.html"'],
    ['page.png', `  ${PAGE}`, 'application/octet-stream', 'attachment; filename="page.png"'],
    ['logo.svg', SVG, 'image/svg+xml', 'attachment; filename="logo.svg"'],
    ['logo.png', SVG, 'image/svg+xml', 'attachment; filename="logo.png"'],
    ['paper.pdf', '%PDF-1.4\n', 'application/pdf', 'attachment; filename="paper.pdf"'],
    [
      'Größe.bin',
      '\0',
      'application/octet-stream',
      `attachment; filename="Gr__e.bin"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.bin`,
    ],
  ]
  for (const [name, content, type, disposition] of table) {
    const { url: address, full_path } = await upload(owner, url, content, name, 'text/html')
    const bytes = Buffer.from(content)
    // On the web and through the API.
    for (const path of [full_path, `/api/v4${url}${address}`]) {
      const answer = await read(forge, path)
      expect(Buffer.from(await answer.arrayBuffer()), name).toEqual(bytes)
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': type,
        'content-disposition': disposition,
        'content-length': String(bytes.length),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'max-age=0, private, must-revalidate',
      })
    }
  }
})

test('HEAD, ranges and entity tags', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const { full_path: path } = await upload(owner, url, '0123456789', 'digits.txt')
  const head = await read(forge, path, {}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
  const tag = head.headers.get('etag')!
  expect(tag).toMatch(/^"[0-9a-f]+"$/)

  const ranges: [Record<string, string>, number, string | null, string][] = [
    [{ Range: 'bytes=2-4' }, 206, 'bytes 2-4/10', '234'],
    [{ Range: 'bytes=7-' }, 206, 'bytes 7-9/10', '789'],
    [{ Range: 'bytes=-2' }, 206, 'bytes 8-9/10', '89'],
    [{ Range: 'bytes=5-500' }, 206, 'bytes 5-9/10', '56789'],
    [{ Range: 'bytes=2-4', 'If-Range': tag }, 206, 'bytes 2-4/10', '234'],
    [{ Range: 'bytes=2-4', 'If-Range': '"other"' }, 200, null, '0123456789'],
    [{ Range: 'bytes=0-1,3-4' }, 200, null, '0123456789'],
    [{ Range: 'nonsense' }, 200, null, '0123456789'],
    [{ Range: 'bytes=10-' }, 416, 'bytes */10', ''],
    [{ 'If-None-Match': tag }, 304, null, ''],
    [{ 'If-None-Match': `"x", W/${tag}` }, 304, null, ''],
    [{ 'If-None-Match': '"x"' }, 200, null, '0123456789'],
  ]
  for (const [headers, status, range, content] of ranges) {
    const answer = await read(forge, path, headers)
    const got = [answer.status, answer.headers.get('content-range'), await answer.text()]
    expect([headers, ...got]).toEqual([headers, status, range, content])
  }
})

test('security 35: the address alone opens nothing in a private project', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const expected = {
    private: [404, 404, 404, 200, 200, 200, 200, 200, 200, 401],
    internal: [404, 200, 404, 200, 200, 200, 200, 200, 200, 401],
    public: [200, 200, 200, 200, 200, 200, 200, 200, 200, 401],
  }
  for (const visibility of ['private', 'internal', 'public'] as const) {
    const source = await openSource(forge, 'projects', { visibility })
    const callers = await callersOf(forge, source)
    const { full_path } = await upload(source.owner, source.url, PIXEL, 'dk.png')
    const statuses: number[] = []
    for (const name of CALLERS) statuses.push((await read(forge, full_path, callers[name].headers)).status)
    expect([visibility, statuses]).toEqual([visibility, expected[visibility]])
  }
})

test('a session opens what its user may read, and a token only with a reading scope', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const jane = await forge.user({ username: 'jane', password: 'correct horse' })
  const { full_path: path } = await upload(source.owner, source.url, PIXEL, 'dk.png')
  const browser = new Browser(forge.url)
  await browser.signIn('jane', 'correct horse')
  expect((await browser.get(path)).status).toBe(404)
  await source.owner.post(`${source.url}/members`, { user_id: jane.id, access_level: 10 })
  expect((await browser.get(path)).status).toBe(200)

  const tokenOf = async (person: Person, scope: string) =>
    (await person.post('/user/personal_access_tokens', { name: scope, scopes: [scope] })).body.token as string
  for (const [scope, status] of [
    ['api', 200],
    ['read_api', 200],
    ['read_user', 404],
  ] as const) {
    const token = await tokenOf(jane, scope)
    expect([scope, (await read(forge, path, { Authorization: `Bearer ${token}` })).status]).toEqual([scope, status])
    expect((await read(forge, `${path}?private_token=${token}`)).status).toBe(status)
  }
  expect((await read(forge, path, { 'PRIVATE-TOKEN': 'nonsense' })).status).toBe(401)
})

test('security 6: path traversal in attachments, five groups deep', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  let parent_id: number | undefined
  for (let depth = 1; depth <= 5; depth++) {
    const input = { name: `g${depth}`, path: `g${depth}`, visibility: 'public', ...(parent_id && { parent_id }) }
    parent_id = (await owner.post('/groups', input)).body.id
  }
  const { body } = await owner.post('/projects', { path: 'deep', namespace_id: parent_id, visibility: 'public' })
  const { full_path } = await upload(owner, `/projects/${body.id}`, PIXEL, 'dk.png')
  expect(full_path).toMatch(/^\/g1\/g2\/g3\/g4\/g5\/deep\/uploads\/[0-9a-f]{32}\/dk\.png$/)
  expect(await statusOf(forge, full_path)).toBe(200)
  expect(await statusOf(forge, full_path.replace('dk', '%64k'))).toBe(200)
  expect(await statusOf(forge, full_path.toUpperCase().replace('UPLOADS', 'uploads'))).toBe(404)

  const folder = full_path.slice(0, -'/dk.png'.length)
  const uploads = folder.slice(0, folder.lastIndexOf('/'))
  const secret = folder.slice(folder.lastIndexOf('/') + 1)
  const ways: string[] = []
  for (const up of ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '%252e%252e%252f', '..%5c', '..%c0%af']) {
    for (const times of [1, 5, 8, 12]) {
      for (const target of ['secret.key', 'etc/passwd', 'etc%2fpasswd', 'mortise.sqlite']) {
        ways.push(`${folder}/${up.repeat(times)}${target}`, `${uploads}/${up.repeat(times)}${target}`)
        ways.push(`${uploads}/${up.repeat(times)}${secret}/dk.png`)
      }
    }
  }
  ways.push(`${folder}/`, uploads, `${folder}/.`, `${folder}/..`, `${folder}/dk.png%00`, `${folder}/%00dk.png`)
  ways.push(
    `${folder}%00/dk.png`,
    `/g1%00/deep/uploads/${secret}/dk.png`,
    `${folder}/./dk.png`,
    `${folder}/x/../dk.png`,
  )
  ways.push(`${folder}/dk.png/x`, `${uploads}/${secret.toUpperCase()}x/dk.png`, `/${body.id}/uploads/${secret}/dk.png`)
  ways.push(`/g1/g2/uploads/${secret}/dk.png`, `${uploads}%2f${secret}/dk.png`)
  for (const way of ways) expect([400, 404], way).toContain(await statusOf(forge, way))
})

test('an address below a private project is answered like one below none', async () => {
  await using forge = await startForge()
  const owner = await forge.user({ username: 'owner' })
  await forge.project({ path: 'hidden', visibility: 'private' }, owner)
  const file = `uploads/${'0'.repeat(32)}/a.png`
  const ask = async (project: string, headers: Record<string, string>) => {
    const answer = await fetch(`${forge.url}/owner/${project}/${file}`, { headers, redirect: 'manual' })
    const [title] = /<title>[^<]*/.exec(await answer.text()) ?? [null]
    return [answer.status, answer.headers.get('content-type'), answer.headers.get('location'), title]
  }
  for (const Accept of ['text/html', 'application/json', '*/*', 'image/png'])
    expect(await ask('hidden', { Accept }), Accept).toEqual(await ask('absent', { Accept }))
})
