import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { LfsClient, authorizationOf, lfsStateOf, objectOf } from '../../../test/lfs.ts'
import { DAY, HOUR } from '../../clock.ts'
import { startForge, type Person, type TestForge } from '../../forge.ts'
import { copyLfsLinks } from '../../features/repository/lfs/service.ts'

const BIG = objectOf('a big file '.repeat(1000))
const OTHER = objectOf('another file')
const EMPTY = objectOf('')
const NO_OBJECT = "Object does not exist on the server or you don't have permissions to access it"

async function openProject(forge: TestForge, input: Record<string, unknown> = {}, owner?: Person) {
  const jane = owner ?? (await forge.user())
  const project = await forge.project(input, jane)
  const path: string = project.path_with_namespace
  return { jane, project, path, lfs: new LfsClient(forge, path, authorizationOf(jane)) }
}

const saying = (forge: TestForge, message: string) => ({ message, documentation_url: `${forge.url}/api/docs` })
const sizeOf = async (caller: Person, id: number) =>
  (await caller.get(`/projects/${id}`, { statistics: true })).body.statistics

test('content goes up by the way batch tells, and comes down again', async () => {
  await using forge = await startForge()
  const { jane, project, path, lfs } = await openProject(forge)
  const url = `${forge.url}/${path}.git`

  const uploads = await lfs.batch('upload', BIG, EMPTY)
  expect(uploads.status).toBe(200)
  expect(uploads.headers.get('content-type')).toBe('application/vnd.git-lfs+json')
  const header = { Authorization: expect.stringMatching(/^Basic /), 'Content-Type': 'application/octet-stream' }
  expect(uploads.body).toEqual({
    transfer: 'basic',
    hash_algo: 'sha256',
    objects: [BIG, EMPTY].map(({ oid, size }) => ({
      oid,
      size,
      actions: { upload: { href: `${url}/gitlab-lfs/objects/${oid}/${size}`, header, expires_in: 7200 } },
    })),
  })

  for (const [n, object] of [BIG, EMPTY].entries()) {
    const { href, header } = uploads.body.objects[n].actions.upload
    const bare = new LfsClient(forge, path)
    expect(await bare.request('PUT', href, object.content, header)).toMatchObject({ status: 200, body: '' })
  }
  expect(await sizeOf(jane, project.id)).toMatchObject({ lfs_objects_size: BIG.size, storage_size: BIG.size })
  expect((await lfs.batch('upload', BIG, OTHER)).body.objects).toEqual([
    { oid: BIG.oid, size: BIG.size },
    { oid: OTHER.oid, size: OTHER.size, actions: { upload: expect.anything() } },
  ])

  const { body } = await lfs.batch('download', BIG, OTHER)
  expect(body.objects).toEqual([
    {
      oid: BIG.oid,
      size: BIG.size,
      actions: {
        download: {
          href: `${url}/gitlab-lfs/objects/${BIG.oid}`,
          header: { Authorization: expect.stringMatching(/^Basic /) },
          expires_in: 7200,
        },
      },
    },
    { oid: OTHER.oid, size: OTHER.size, error: { code: 404, message: NO_OBJECT } },
  ])
  const { href, header: granted } = body.objects[0].actions.download
  const whole = await fetch(href, { headers: granted })
  expect(Buffer.from(await whole.arrayBuffer()).equals(BIG.content)).toBe(true)
  expect(whole.headers.get('content-type')).toBe('application/octet-stream')
  expect(whole.headers.get('content-disposition')).toBe('attachment')
  expect((await lfs.content(EMPTY)).status).toBe(200)
})

test('pieces of the content, and its length alone', async () => {
  await using forge = await startForge()
  const { lfs } = await openProject(forge)
  await lfs.put(OTHER)
  const piece = await lfs.content(OTHER, { Range: 'bytes=8-' })
  expect([piece.status, piece.body, piece.headers.get('content-range')]).toEqual([206, 'file', 'bytes 8-11/12'])
  const beyond = await lfs.content(OTHER, { Range: 'bytes=12-' })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */12'])
  const head = await lfs.request('HEAD', `gitlab-lfs/objects/${OTHER.oid}`)
  expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '12', ''])
})

test('the same object twice counts once', async () => {
  await using forge = await startForge()
  const { jane, project, lfs } = await openProject(forge)
  const puts = await Promise.all([1, 2, 3, 4].map(() => lfs.put(BIG)))
  expect(puts.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await sizeOf(jane, project.id)).lfs_objects_size).toBe(BIG.size)
})

test('content that is not what it was called is not kept', async () => {
  await using forge = await startForge()
  const { lfs } = await openProject(forge)
  await lfs.put(OTHER)
  const before = await lfsStateOf(forge)
  const wrong = saying(forge, 'SHA256 or size mismatch')
  const changed = Buffer.from(BIG.content)
  changed[5000] = 0
  for (const sent of [
    { ...BIG, content: changed },
    { ...BIG, size: BIG.size + 1 },
    { ...BIG, size: BIG.size - 1 },
    { ...BIG, size: 0 },
    { ...BIG, content: BIG.content.subarray(1) },
    // Existing content with a correct id stays.
    { ...BIG, content: OTHER.content },
  ]) {
    expect(await lfs.put(sent)).toMatchObject({ status: 400, body: wrong })
  }
  for (const [path, status] of [
    [`${BIG.oid.toUpperCase()}/${BIG.size}`, 404],
    [`${BIG.oid.slice(1)}/${BIG.size}`, 404],
    [`${BIG.oid}/-1`, 404],
    [`${BIG.oid}`, 404],
    [`${BIG.oid}/${'9'.repeat(30)}`, 404],
    [`..%2F${BIG.oid}/${BIG.size}`, 404],
  ] as const) {
    expect((await lfs.request('PUT', `gitlab-lfs/objects/${path}`, BIG.content)).status, path).toBe(status)
  }
  expect(await lfsStateOf(forge)).toEqual(before)
  expect((await lfs.content(OTHER)).body).toBe('another file')
})

test('a sender who leaves midway leaves nothing', async () => {
  await using forge = await startForge()
  const { path, jane } = await openProject(forge)
  const before = await lfsStateOf(forge)
  const { hostname, port } = new URL(forge.url)
  const socket = connect(Number(port), hostname)
  const head = [
    `PUT /${path}.git/gitlab-lfs/objects/${BIG.oid}/${BIG.size} HTTP/1.1`,
    'Host: x',
    `Authorization: ${authorizationOf(jane)}`,
    `Content-Length: ${BIG.size}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(BIG.content.subarray(0, 5000))
  await expect.poll(async () => JSON.stringify(await lfsStateOf(forge))).toContain('drafts/')
  socket.destroy()
  await expect.poll(() => lfsStateOf(forge)).toEqual(before)
})

test('security 40: to know the id of another project’s object opens nothing', async () => {
  await using forge = await startForge()
  const { lfs } = await openProject(forge)
  await lfs.put(BIG)
  const { jane: mallory, project, lfs: hers } = await openProject(forge)
  const before = await lfsStateOf(forge)

  expect((await hers.batch('download', BIG)).body.objects[0]).toEqual({
    oid: BIG.oid,
    size: BIG.size,
    error: { code: 404, message: NO_OBJECT },
  })
  expect(await hers.content(BIG)).toMatchObject({ status: 404, body: saying(forge, 'Not found.') })
  // The upload is not skipped: a client that claims to have the content must send it.
  expect((await hers.batch('upload', BIG)).body.objects[0]).toHaveProperty('actions.upload')
  expect((await hers.put({ ...BIG, content: Buffer.from('') })).status).toBe(400)
  expect((await hers.put({ ...BIG, content: OTHER.content })).status).toBe(400)
  expect(await lfsStateOf(forge)).toEqual(before)

  expect((await hers.put(BIG)).status).toBe(200)
  expect((await hers.content(BIG)).status).toBe(200)
  expect((await sizeOf(mallory, project.id)).lfs_objects_size).toBe(BIG.size)
})

test('an LFS token opens one project, for one kind of work, for a while', async () => {
  await using forge = await startForge()
  const { jane, path, lfs } = await openProject(forge)
  const { path: elsewhere, lfs: other } = await openProject(forge, {}, jane)
  await lfs.put(BIG)
  await other.put(BIG)
  const { Authorization } = (await lfs.batch('download', BIG)).body.objects[0].actions.download.header
  const token = Buffer.from(Authorization.slice(6), 'base64').toString()
  expect(token).toMatch(new RegExp(`^${jane.username}:lfs\\.`))
  const granted = new LfsClient(forge, path, Authorization)
  const statuses = async (client: LfsClient) => [
    (await client.content(BIG)).status,
    (await client.put(OTHER)).status,
    (await client.batch('upload', OTHER)).status,
    (await client.get('info/lfs/locks')).status,
  ]
  const before = await lfsStateOf(forge)
  expect(await statuses(granted)).toEqual([200, 403, 403, 200])
  expect(await statuses(new LfsClient(forge, elsewhere, Authorization))).toEqual([404, 404, 404, 404])
  expect(await lfsStateOf(forge)).toEqual(before)

  const forged = [
    token.replace(/^[^:]+/, 'root'),
    token.slice(0, -2),
    token.replace('lfs.', 'lfs.e30'),
    `${jane.username}:lfs.e30.AAAA`,
  ]
  for (const one of forged) {
    const client = new LfsClient(forge, path, `Basic ${Buffer.from(one).toString('base64')}`)
    expect((await client.content(BIG)).status, one).toBe(401)
  }
  forge.clock.advance(2 * HOUR + 1000)
  expect((await granted.content(BIG)).status).toBe(401)

  const fresh = (await lfs.batch('upload', OTHER)).body.objects[0].actions.upload.header
  await forge.administrator.post(`/users/${jane.id}/block`)
  expect((await new LfsClient(forge, path, fresh.Authorization).put(OTHER)).status).toBe(401)
  expect(await lfsStateOf(forge)).toEqual(before)
})

test('requests that make no sense', async () => {
  await using forge = await startForge()
  const { path, lfs } = await openProject(forge)
  const before = await lfsStateOf(forge)
  const visitor = new LfsClient(forge, path)
  const batch = 'info/lfs/objects/batch'
  const nothing = saying(forge, 'Not found.')
  const many = Array.from({ length: 1001 }, () => ({ oid: BIG.oid, size: 1 }))
  for (const [client, method, at, body, status, answer] of [
    [lfs, 'POST', batch, { operation: 'download', objects: [] }, 404, nothing],
    [lfs, 'POST', batch, { operation: 'download' }, 404, nothing],
    [lfs, 'POST', batch, { operation: 'destroy', objects: [BIG] }, 404, nothing],
    [lfs, 'POST', batch, {}, 404, nothing],
    [visitor, 'POST', batch, {}, 401, saying(forge, 'HTTP Basic: Access denied')],
    [lfs, 'POST', batch, Buffer.from('{"operation"'), 400, expect.anything()],
    [lfs, 'POST', batch, { operation: 'download', objects: many }, 413, expect.anything()],
    [
      lfs,
      'POST',
      batch,
      { operation: 'upload', objects: [{ oid: 'x', size: 1 }], hash_algo: 'sha512' },
      409,
      saying(forge, 'Only sha256 is supported'),
    ],
    [lfs, 'GET', 'info/lfs', undefined, 404, nothing],
    [lfs, 'GET', batch.replace('batch', ''), undefined, 404, nothing],
    [lfs, 'DELETE', `gitlab-lfs/objects/${BIG.oid}`, undefined, 404, expect.anything()],
  ] as const) {
    const { body: message, status: code } = await client.request(method, at, body as never)
    expect([code, message], `${method} ${at} ${JSON.stringify(body)?.slice(0, 80)}`).toEqual([status, answer])
  }
  const old = saying(forge, 'Server supports batch API only, please update your Git LFS client')
  expect(await lfs.post('info/lfs/objects', {})).toMatchObject({ status: 501, body: old })
  expect(await lfs.get(`info/lfs/objects/${BIG.oid}`)).toMatchObject({ status: 501, body: old })

  const odd = [
    { oid: 'x', size: 1 },
    { oid: BIG.oid.toUpperCase(), size: 1 },
    { oid: BIG.oid, size: -1 },
    { oid: BIG.oid, size: 1.5 },
  ]
  const { body } = await lfs.batch('upload', ...odd)
  expect(body.objects.map(({ error }: { error: { code: number } }) => error.code)).toEqual([422, 422, 422, 422])
  expect(await lfsStateOf(forge)).toEqual(before)
})

test('a renamed project is served under its old address too', async () => {
  await using forge = await startForge()
  const { jane, project, path, lfs } = await openProject(forge)
  await lfs.put(BIG)
  await jane.put(`/projects/${project.id}`, { name: 'moved', path: 'moved' })
  expect((await lfs.content(BIG)).status).toBe(200)
  expect((await new LfsClient(forge, path.toUpperCase(), lfs.authorization).content(BIG)).status).toBe(200)
  const { body } = await lfs.batch('download', BIG)
  expect(body.objects[0].actions.download.href).toContain(`/${jane.username}/moved.git/`)
  const stranger = await forge.user()
  expect((await new LfsClient(forge, path, authorizationOf(stranger)).content(BIG)).status).toBe(404)
})

test('content goes with the last project that has it, and stays with a fork', async () => {
  await using forge = await startForge()
  const { jane, project, lfs } = await openProject(forge, { visibility: 'public' })
  await lfs.put(BIG)
  await lfs.put(OTHER)
  const kate = await forge.user()
  const { body: fork } = await kate.post(`/projects/${project.id}/fork`)
  await forge.settle()
  const forked = new LfsClient(forge, fork.path_with_namespace, authorizationOf(kate))
  expect((await forked.content(BIG)).status).toBe(200)
  expect((await sizeOf(kate, fork.id)).lfs_objects_size).toBe(BIG.size + OTHER.size)
  await copyLfsLinks(forge.app, project.id, fork.id)
  expect((await sizeOf(kate, fork.id)).lfs_objects_size).toBe(BIG.size + OTHER.size)

  const later = async () => {
    for (const ms of [DAY, HOUR]) {
      await forge.settle()
      forge.clock.advance(ms + 1000)
    }
    await forge.settle()
  }
  await jane.delete(`/projects/${project.id}`)
  await later()
  expect((await forked.content(BIG)).status).toBe(200)
  expect(await forge.app.blobs.has(OTHER.oid)).toBe(true)

  await kate.delete(`/projects/${fork.id}`)
  await later()
  expect(await lfsStateOf(forge)).toMatchObject({ objects: [], links: [], blobs: [] })
})
