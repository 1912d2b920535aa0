import { expect, test } from 'vitest'
import { CALLERS, castOf } from '../../../test/cast.ts'
import { LfsClient, authorizationOf, lfsStateOf, objectOf } from '../../../test/lfs.ts'
import { startForge, type TestForge } from '../../forge.ts'

const BIG = objectOf('a big file '.repeat(1000))
const OTHER = objectOf('another file')

async function openProject(forge: TestForge) {
  const jane = await forge.user()
  const project = await forge.project({ visibility: 'public' }, jane)
  const path: string = project.path_with_namespace
  return { jane, project, path, lfs: new LfsClient(forge, path, authorizationOf(jane)) }
}

const DOWNLOADS = {
  private: [401, 404, 404, 403, 200, 200, 200, 200, 200, 403],
  internal: [401, 200, 404, 200, 200, 200, 200, 200, 200, 403],
  public: [200, 200, 200, 200, 200, 200, 200, 200, 200, 403],
} as const
const UPLOADS = {
  private: [401, 404, 404, 403, 403, 200, 200, 200, 200, 403],
  internal: [401, 403, 404, 403, 403, 200, 200, 200, 200, 403],
  public: [401, 403, 403, 403, 403, 200, 200, 200, 200, 403],
} as const

test.each(['private', 'internal', 'public'] as const)('who may fetch and send on a %s project', async (visibility) => {
  await using forge = await startForge()
  const cast = await castOf(forge, visibility)
  const { path_with_namespace: path } = await cast.project()
  const clients = CALLERS.map((who) => new LfsClient(forge, path, authorizationOf(cast.callers[who])))
  await new LfsClient(forge, path, authorizationOf(cast.people.owner)).put(BIG)
  const statuses = async (work: (client: LfsClient) => Promise<{ status: number }>) => {
    const got: number[] = []
    for (const client of clients) got.push((await work(client)).status)
    return got
  }
  const before = await lfsStateOf(forge)
  expect(await statuses((client) => client.batch('download', BIG))).toEqual(DOWNLOADS[visibility])
  expect(await statuses((client) => client.content(BIG))).toEqual(DOWNLOADS[visibility])
  expect(await statuses((client) => client.get('info/lfs/locks'))).toEqual(DOWNLOADS[visibility])
  expect(await statuses((client) => client.batch('upload', OTHER))).toEqual(UPLOADS[visibility])
  expect(await statuses((client) => client.post('info/lfs/locks/verify', {}))).toEqual(UPLOADS[visibility])
  expect(await lfsStateOf(forge)).toEqual(before)

  for (const [n, client] of clients.entries()) {
    const was = await lfsStateOf(forge)
    const { status } = await client.put(objectOf(`by ${n}`))
    expect(status, CALLERS[n]).toBe(UPLOADS[visibility][n])
    expect(JSON.stringify(await lfsStateOf(forge)) === JSON.stringify(was), CALLERS[n]).toBe(status !== 200)
  }
  // The challenge that makes git ask its user.
  const refused = await clients[0]!.batch('upload', OTHER)
  expect(refused.headers.get('www-authenticate')).toBe('Basic realm="Mortise"')
  expect(refused.headers.get('lfs-authenticate')).toBe('Basic realm="Mortise"')
})

test('on a public project anonymous callers need no credentials', async () => {
  await using forge = await startForge()
  const { path, lfs } = await openProject(forge)
  await lfs.put(BIG)
  const { body } = await new LfsClient(forge, path).batch('download', BIG)
  expect(body.objects[0]).toMatchObject({ authenticated: true, actions: { download: { header: {} } } })
  expect((await fetch(body.objects[0].actions.download.href)).status).toBe(200)
})

test('projects that are archived, without LFS, without code, unknown, or wikis', async () => {
  await using forge = await startForge()
  const { jane, project, path, lfs } = await openProject(forge)
  await lfs.put(BIG)
  const visitor = new LfsClient(forge, path)
  const statuses = async () => [
    (await lfs.content(BIG)).status,
    (await lfs.put(OTHER)).status,
    (await visitor.content(BIG)).status,
  ]
  const before = await lfsStateOf(forge)
  await jane.post(`/projects/${project.id}/archive`)
  expect(await statuses()).toEqual([200, 403, 200])
  await jane.post(`/projects/${project.id}/unarchive`)
  await jane.put(`/projects/${project.id}`, { lfs_enabled: false })
  expect(await statuses()).toEqual([403, 403, 403])
  await jane.put(`/projects/${project.id}`, { lfs_enabled: true, repository_access_level: 'disabled' })
  expect(await statuses()).toEqual([403, 403, 401])
  expect(await lfsStateOf(forge)).toEqual(before)
  await jane.put(`/projects/${project.id}`, { repository_access_level: 'private' })
  expect(await statuses()).toEqual([200, 200, 401])
  for (const other of [`${path}.wiki`, 'no/such', String(project.id), `x/${project.id}`]) {
    expect((await new LfsClient(forge, other, authorizationOf(jane)).content(BIG)).status, other).toBe(404)
    expect((await new LfsClient(forge, other).content(BIG)).status, other).toBe(401)
  }
})
