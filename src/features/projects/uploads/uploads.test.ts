import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { PIXEL, pngOf } from '../../../../test/samples.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()

function formOf(content: string | Uint8Array, filename: string, type = 'application/octet-stream'): FormData {
  const form = new FormData()
  form.set('file', new Blob([Buffer.from(content)], { type }), filename)
  return form
}

/** The number of stored blobs. */
async function blobsOf({ app }: TestForge): Promise<number> {
  const names = await readdir(join(app.config.data, 'blobs'), { recursive: true }).catch(() => [])
  return names.filter((name) => /[0-9a-f]{62}$/.test(name)).length
}

const spoolOf = ({ app }: TestForge) => readdir(join(app.config.data, 'spool')).catch(() => [])

test('an upload is answered with what links to it', async () => {
  await using forge = await startForge()
  const { url, path, owner } = await openSource(forge, 'projects')
  const events = await forge.events()
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const mp4 = '\0\0\0\x20ftypisom\0\0\x02\0'
  const table: [string, string | Uint8Array, string, string, boolean][] = [
    ['dk.png', PIXEL, 'dk.png', 'dk', true],
    ['my film.mp4', mp4, 'my_film.mp4', 'my_film', true],
    ['logo.svg', svg, 'logo.svg', 'logo.svg', true],
    ['read me.txt', 'hello', 'read_me.txt', 'read_me.txt', false],
    ['no-picture.png', 'hello', 'no-picture.png', 'no-picture.png', false],
    ['picture', pngOf(2, 2), 'picture', 'picture', true],
    ['empty', '', 'empty', 'empty', false],
  ]
  for (const [given, content, name, alt, isShown] of table) {
    const { status, body } = await owner.post(`${url}/uploads`, formOf(content, given, 'image/png'))
    const secret = /^\/uploads\/([0-9a-f]{32})\//.exec(body.url)![1]!
    const address = `/uploads/${secret}/${name}`
    expect(body).toEqual({
      id: expect.any(Number),
      alt,
      url: address,
      full_path: `${path}${address}`,
      markdown: `${isShown ? '!' : ''}[${alt}](${address})`,
    })
    expect(status).toBe(201)
    const file = await fetch(`${forge.url}/api/v4${url}${address}`, { headers: owner.headers })
    expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(content))
  }
  // Deleted after the answer is sent.
  await expect.poll(() => spoolOf(forge)).toEqual([])
  expect(await forge.events()).toEqual(events)
})

test('refuses what is no file or too large, and keeps nothing of it', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  await forge.administrator.put('/application/settings', { max_attachment_size: 1 })
  const MB = 1024 * 1024
  const text = new FormData()
  text.set('file', 'hello')
  const invalid = { message: 'file is invalid', error: 'file is invalid' }
  const missing = { message: '400 (Bad request) file not given', error: 'file is missing' }
  const tooLarge = { message: '413 Request Entity Too Large' }
  const refusals = [
    [text, 400, invalid],
    [{ file: 'hello' }, 400, invalid],
    [new FormData(), 400, missing],
    [{}, 400, missing],
    [formOf(Buffer.alloc(MB + 1), 'x'), 413, tooLarge],
  ] as const
  for (const [input, status, body] of refusals) {
    expect(await owner.post(`${url}/uploads`, input)).toEqual({ status, body, headers })
  }
  expect((await owner.get(`${url}/uploads`)).body).toEqual([])
  expect([await blobsOf(forge), await spoolOf(forge)]).toEqual([0, []])
  expect((await owner.post(`${url}/uploads`, formOf(Buffer.alloc(MB), 'x'))).status).toBe(201)
})

test('an endless body is refused at the limit, not held in memory', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { hostname, port } = new URL(forge.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk))
  const chunk = Buffer.alloc(1024 * 1024)
  const before = process.memoryUsage.rss()
  function* endless() {
    yield `POST /api/v4${url}/uploads HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${owner.token}\r\n`
    yield `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${10 ** 12}\r\n\r\n`
    yield '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    for (let sent = 0; sent < 300 && answer === ''; sent++) yield chunk
  }
  await pipeline(Readable.from(endless()), socket, { end: false })
  await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000)
  expect((await owner.get(`${url}/uploads`)).body).toEqual([])
  expect(await blobsOf(forge)).toBe(0)
  await expect.poll(() => spoolOf(forge)).toEqual([])
})

test('the same content twice is kept once, and goes when the last of its uploads has gone', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const wait = async () => {
    forge.clock.advance(2 * HOUR)
    await forge.settle()
  }
  const one = (await owner.post(`${url}/uploads`, formOf(PIXEL, 'a.png'))).body
  const two = (await owner.post(`${url}/uploads`, formOf(PIXEL, 'b.png'))).body
  await wait()
  expect(await blobsOf(forge)).toBe(1)
  expect(await owner.delete(`${url}/uploads/${one.id}`)).toMatchObject({ status: 204, body: '' })
  await wait()
  expect(await blobsOf(forge)).toBe(1)
  expect((await owner.get(`${url}${two.url}`)).status).toBe(200)
  expect(await owner.delete(`${url}${two.url}`)).toMatchObject({ status: 204, body: '' })
  await wait()
  expect(await blobsOf(forge)).toBe(0)
  for (const path of [`/uploads/${one.id}`, two.url]) {
    expect(await owner.delete(url + path)).toMatchObject({ status: 404, body: { message: '404 Upload Not Found' } })
    expect(await owner.get(url + path)).toMatchObject({ status: 404, body: { message: '404 Upload Not Found' } })
  }
})

test('uploads are listed for those who look after the project, at the same cost however many', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const people = [owner, await forge.user(), await forge.user()]
  for (const { id } of people.slice(1)) await owner.post(`${url}/members`, { user_id: id, access_level: 10 })
  const add = async (count: number) => {
    for (let n = 0; n < count; n++) await people[n % 3]!.post(`${url}/uploads`, formOf(`text ${n}`, `${n}.txt`))
  }
  const ask = () => owner.get(`${url}/uploads`, { per_page: 100 })
  await add(2)
  const two = await costOf(forge, ask)
  const { body } = await ask()
  expect(body.map(({ filename }: { filename: string }) => filename)).toEqual(['1.txt', '0.txt'])
  const { id, username, name, state, avatar_url, web_url } = (await owner.get('/user')).body
  expect(body[1]).toEqual({
    id: expect.any(Number),
    size: 6,
    filename: '0.txt',
    created_at: expect.stringMatching(/Z$/),
    uploaded_by: { id, username, name, state, avatar_url, web_url },
  })
  await add(10)
  expect(await costOf(forge, ask)).toBe(two)
  const page = await owner.get(`${url}/uploads`, { per_page: 5, page: 2 })
  expect([page.headers.get('x-total'), page.headers.get('x-next-page'), page.body.length]).toEqual(['12', '3', 5])
})

test('readers of a project can upload; maintainers and above manage uploads', async () => {
  await using forge = await startForge()
  const secret = await openSource(forge, 'projects')
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  for (const source of [secret, open]) {
    const { url, owner } = source
    const callers = await callersOf(forge, source)
    const isHidden = source === secret
    const { body: upload } = await owner.post(`${url}/uploads`, formOf(PIXEL, 'a.png'))
    // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
    const readers = (ok: number, anonymous: number) => {
      const outside = isHidden ? 404 : ok
      return [anonymous, outside, outside, ok, ok, ok, ok, ok, ok, 401]
    }
    const outside = isHidden ? 404 : 403
    const masters = (...may: [number, number, number]) => [401, outside, outside, 403, 403, 403, ...may, 401]

    const add = await statusesOf(callers, (caller) => caller.post(`${url}/uploads`, formOf('x', 'x.txt')))
    expect(add).toEqual(readers(201, 401))
    const total = (await owner.get(`${url}/uploads`)).headers.get('x-total')
    expect(total).toBe(isHidden ? '7' : '9')
    expect(await statusesOf(callers, (caller) => caller.get(`${url}${upload.url}`))).toEqual(
      readers(200, isHidden ? 404 : 200),
    )
    for (const path of ['/uploads', `/uploads/${upload.id}`]) {
      expect(await statusesOf(callers, (caller) => caller.get(url + path))).toEqual(masters(200, 200, 200))
    }
    for (const name of ['anonymous', 'stranger', 'external', 'guest', 'developer', 'blocked'] as const) {
      for (const path of [`/uploads/${upload.id}`, upload.url]) {
        expect((await callers[name].delete(url + path)).status).toBeGreaterThan(400)
      }
    }
    expect((await owner.get(`${url}/uploads`)).headers.get('x-total')).toBe(total)
    expect(await statusesOf(callers, (caller) => caller.delete(`${url}${upload.url}`))).toEqual(masters(204, 404, 404))
  }
  // Security 33: an upload of another project.
  const { body: other } = await open.owner.post(`${open.url}/uploads`, formOf(PIXEL, 'a.png'))
  for (const path of [`/uploads/${other.id}`, other.url]) {
    expect((await secret.owner.get(secret.url + path)).status).toBe(404)
    expect((await secret.owner.delete(secret.url + path)).status).toBe(404)
  }
  expect((await open.owner.get(`${open.url}${other.url}`)).status).toBe(200)
})
