import { appendFile, mkdir, readFile, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupStage, objectsIn, refsIn, rowsOf, undisturbed } from '../../test/backups.ts'
import { ACCESS_KEY, SECRET_KEY, startS3 } from '../../test/s3.ts'
import { serve } from '../app.ts'
import { DAY } from '../clock.ts'
import type { Config } from '../config.ts'
import { startForge } from '../forge.ts'
import { assertAlone } from '../jobs/processes.ts'
import { Archive, openArchive } from './archive.ts'
import { openExisting } from './existing.ts'
import { contentOf, findMoment } from './history.ts'
import { openCapturer } from './open.ts'
import { restore } from './restore.ts'
import { pruneArchive } from './retention.ts'
import { verifyBackup } from './verify.ts'
import { blobColumns } from '../features/v4.ts'

type Forge = Awaited<ReturnType<typeof startForge>>

/** A project with all kinds of content: commits, a tag, an issue with an upload, a wiki page, a fork. */
async function fill(forge: Forge) {
  const { administrator: root } = forge
  const project = await forge.project({ visibility: 'public' })
  await forge.seed(project, { 'a.txt': 'one', 'b/c.txt': 'two' })
  const url = `/projects/${project.id}`
  await root.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master', message: 'first' })
  await root.post(`${url}/issues`, { title: 'An issue' })
  await root.post(`${url}/uploads`, fileOf('content of a file'))
  await root.post(`${url}/wikis`, { title: 'home', content: 'Welcome' })
  await root.post(`${url}/fork`, { path: 'fork', name: 'fork' })
  await forge.settle()
  return { project, url }
}

function fileOf(content: string): FormData {
  const form = new FormData()
  form.append('file', new File([content], 'notes.txt'))
  return form
}

/** All rows and refs of an instance. */
async function stateOf(config: Config) {
  return { rows: await rowsOf(config), refs: await refsIn(config.storages['default']!) }
}

test('an instance comes back whole, and works', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { url } = await fill(forge)
  const state = await undisturbed(forge, async () => {
    await stage.backUp()
    return stateOf(forge.app.config)
  })

  const { config, faults, counts } = await stage.restore()
  expect(faults).toEqual([])
  expect(await stateOf(config)).toEqual(state)
  expect(counts).toMatchObject({ repositories: 4, blobs: 1 })
  const files = (await readdir(config.data)).filter((name) => name !== 'mortise.sqlite')
  expect(files.toSorted()).toEqual(['blobs', 'repositories', 'secret.key'])

  // The process of the forge is alive, but does not use the copy.
  await using copy = await openExisting(config)
  await assertAlone(copy.store.db)

  await using restored = await serve({ ...config, port: 0 }, { durable: false })
  const api = async (path: string) => {
    const headers = { 'private-token': forge.administrator.token }
    return (await fetch(`${restored.app.url}/api/v4${path}`, { headers })).json()
  }
  expect(await api(`${url}/issues`)).toMatchObject([{ title: 'An issue' }])
  expect(await api(`${url}/repository/tree`)).toMatchObject([{ name: 'b' }, { name: 'a.txt' }])
  expect(await api(`${url}/wikis/home`)).toMatchObject({ content: 'Welcome' })
})

test('a second backup stores only what is new', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { project } = await fill(forge)
  await stage.backUp()
  const before = await objectsIn(stage.folder)
  await forge.seed(project, { 'a.txt': 'changed' })
  await forge.settle()
  await stage.backUp()
  const added = [...(await objectsIn(stage.folder))].filter((path) => !before.has(path))
  // The changed parts of the database, the record and pack of one repository, and the lists.
  expect(added.length).toBeLessThan(before.size / 2)
  expect((await stage.restore()).faults).toEqual([])
  await stage.backUp()
  // The lists, and what background work has changed.
  expect((await objectsIn(stage.folder)).size - before.size - added.length).toBeLessThan(10)
})

test('each captured moment comes back as it was', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { project, url } = await fill(forge)
  const { administrator: root } = forge
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  const log: { time: string; state: object }[] = []
  const capture = async () => {
    await undisturbed(forge, async () => {
      const { time } = (await capturer.capture())!
      log.push({ time, state: await stateOf(forge.app.config) })
    })
  }
  await capture()
  await root.post(`${url}/issues`, { title: 'Another issue' })
  await forge.seed(project, { 'a.txt': 'changed' }, { branch: 'side' })
  await forge.settle()
  await capture()
  await root.delete(`${url}/repository/branches/side`)
  await root.post(`${url}/uploads`, fileOf('another file'))
  await root.delete(`${url}/wikis/home`)
  await root.delete('/projects/2')
  await forge.settle()
  await capture()

  for (const { time, state } of log) {
    const { config, faults } = await stage.restore({ at: time })
    expect(faults).toEqual([])
    expect(await stateOf(config)).toEqual(state)
  }
  const between = new Date((Date.parse(log[1]!.time) + Date.parse(log[2]!.time)) / 2).toISOString()
  expect((await stage.restore({ at: between })).time).toBe(log[1]!.time)
  const first = log[0]!.time
  await expect(stage.restore({ at: '2020-01-01T00:00:00Z' })).rejects.toThrow(`is ${first}`)
})

test('refs that move during a backup are stored as they were', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { project, url } = await fill(forge)
  const { administrator: root } = forge
  await root.post(`${url}/repository/branches`, { branch: 'gone', ref: 'master' })
  await forge.settle()
  const refs = await refsIn(forge.app.config.storages['default']!)
  let interruption: (() => Promise<unknown>) | null = async () => {
    await forge.seed(project, { 'a.txt': 'later' })
    await root.delete(`${url}/repository/branches/gone`)
    await root.post(`${url}/repository/branches`, { branch: 'new', ref: 'master' })
  }
  class Interrupted extends Archive {
    override async put(content: Uint8Array) {
      // The database is stored first, then the repositories.
      const interrupt = interruption
      interruption = null
      await interrupt?.()
      return super.put(content)
    }
  }
  const { archive } = stage
  const files = {
    names: () => archive.manifestNames(),
    read: (name: string) => archive.readManifest(name),
    write: (name: string, text: string) => archive.writeManifest(name, text),
    remove: (name: string) => archive.removeManifest(name),
    objects: () => archive.list(),
  }
  await using capturer = await openCapturer(forge.app.config, new Interrupted('x', archive.objects, files), {
    blobColumns,
  })
  await capturer.prepare()
  const first = (await capturer.capture())!
  const restored = await stage.restore({ at: first.time })
  expect(restored.faults).toEqual([])
  expect(await refsIn(restored.config.storages['default']!)).toEqual(refs)

  await forge.settle()
  const before = await refsIn(forge.app.config.storages['default']!)
  // The objects of this push are stored with both moments.
  interruption = () => forge.seed(project, { 'a.txt': 'last' })
  const second = (await capturer.capture())!
  await forge.settle()
  await capturer.capture()
  const after = await refsIn(forge.app.config.storages['default']!)
  for (const [at, refs] of [
    [second.time, before],
    [undefined, after],
  ] as const) {
    const { config, faults } = await stage.restore(at === undefined ? {} : { at })
    expect(faults).toEqual([])
    expect(await refsIn(config.storages['default']!)).toEqual(refs)
  }
})

test('a verified backup is proven by a restore', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  await fill(forge)
  const time = await stage.backUp()
  const { config } = forge.app
  expect(await verifyBackup(stage.archive, config, {})).toMatchObject({ time, faults: [] })
  expect(
    await verifyBackup(stage.archive, { ...config, data: '/nonexistent', secretKey: null }, {}).catch(String),
  ).toContain('set MORTISE_SECRET_KEY')
})

test('a bucket holds backups', async () => {
  await using forge = await startForge()
  await using s3 = await startS3()
  await fill(forge)
  const address = s3.url.replace('s3://', `s3://${ACCESS_KEY}:${SECRET_KEY}@`).replace('?', '/nightly/one?')
  await using stage = await backupStage(forge, address)
  s3.mishaps.push('500', 'cut off')
  const state = await undisturbed(forge, async () => {
    await stage.backUp()
    await stage.backUp()
    return stateOf(forge.app.config)
  })
  expect((await s3.keys()).filter((key) => /^nightly\/one\/manifest-[^/]+\.json$/.test(key))).toHaveLength(2)
  const { config, faults } = await stage.restore()
  expect(faults).toEqual([])
  expect(await stateOf(config)).toEqual(state)

  const { archiveFault } = await import('./archive.ts')
  s3.mishaps.push('500', '500', '500', '500')
  const names = await s3.keys()
  expect(archiveFault(await stage.backUp().catch((error: unknown) => error))).toBe(
    'the bucket answers 500 InternalError: try again later',
  )
  expect((await s3.keys()).filter((key) => key.includes('manifest'))).toEqual(
    names.filter((key) => key.includes('manifest')),
  )
})

test('old moments are removed, with what only they need', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { project } = await fill(forge)
  const first = await stage.backUp()
  await forge.seed(project, { 'a.txt': 'changed' })
  await forge.settle()
  const second = await stage.backUp()
  const { archive, folder } = stage
  // Only objects of an earlier day are removed.
  const old = new Date(Date.now() - 2 * DAY)
  for (const path of await objectsIn(folder)) await utimes(join(folder, 'backup/objects', path), old, old)
  expect(await pruneArchive(archive, new Date(first))).toEqual({ manifests: 0, objects: 0 })
  const before = await objectsIn(folder)
  const { manifests, objects } = await pruneArchive(archive, new Date(Date.now() + DAY))
  expect(manifests).toBe(1)
  expect(objects).toBeGreaterThan(0)
  expect((await objectsIn(folder)).size).toBe(before.size - objects)
  expect((await stage.restore()).faults).toEqual([])
  await expect(stage.restore({ at: first })).rejects.toThrow(`is ${second}`)
})

test('a wrong backup, key or folder leaves nothing half restored', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await forge.project()
  await forge.seed({ id }, { 'a.txt': 'one' })
  await forge.administrator.post(`/projects/${id}/uploads`, fileOf('content'))
  await forge.settle()
  await stage.backUp()
  const root = join(stage.folder, 'backup')
  const config = await stage.target('target')
  const { data } = config
  const attempt = (other: object = {}) =>
    restore(stage.archive, { ...config, ...other }, {}).then(
      () => 'restored',
      (error: Error) => error.message,
    )
  const isLeft = () => readdir(data).catch(() => null)

  expect(await attempt({ secretKey: null })).toContain('set MORTISE_SECRET_KEY')
  expect(await attempt({ secretKey: 'f'.repeat(64) })).toContain('the key is not the one')
  expect(await isLeft()).toBeNull()

  await mkdir(data)
  await writeFile(join(data, 'x'), '')
  expect(await attempt()).toBe(`${data} is not empty: restore into an empty folder`)
  expect(await isLeft()).toEqual(['x'])
  await rm(join(data, 'x'))

  // Each object alone is enough to refuse the whole.
  const [manifest] = await stage.archive.manifestNames()
  const objects = [...(await objectsIn(stage.folder))]
  // On PostgreSQL every table is an object.
  const step = Math.ceil(objects.length / 25)
  for (const path of objects.filter((_, n) => n % step === 0)) {
    const file = join(root, 'objects', path)
    const content = await readFile(file)
    if (path.endsWith('0')) await rm(file)
    else await appendFile(file, 'x')
    expect.soft(await attempt(), path).toMatch(/is damaged|cannot be decompressed|is missing/)
    await writeFile(file, content)
    expect.soft(await isLeft()).toEqual([])
  }

  const text = await readFile(join(root, manifest!), 'utf8')
  const write = (changed: string) => writeFile(join(root, manifest!), changed)
  await write(text.replace('"format": 2', '"format": 3'))
  expect(await attempt()).toBe(`${manifest} is damaged`)
  await truncate(join(root, manifest!), 100)
  expect(await attempt()).toBe(`${manifest} is damaged`)
  const { parseManifest, manifestText } = await import('./manifest.ts')
  const { schema, ...rest } = parseManifest(manifest!, text)
  await write(manifestText({ ...rest, schema, format: 3 as 2 }))
  expect(await attempt()).toContain('was made by a later version of Mortise')
  await write(manifestText({ ...rest, schema: [...schema, '2099-01-01-0000-future'], version: '99.0.0' }))
  expect(await attempt()).toContain('was made by Mortise 99.0.0, which is newer')
  expect(await isLeft()).toEqual([])
  await write(text)
  expect(await attempt()).toBe('restored')
  expect(await attempt()).toContain('is not empty')
})

test('one missing repository among many leaves nothing, while others are being written', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  for (let n = 0; n < 8; n++) await forge.seed(await forge.project(), { [`${n}.txt`]: String(n) })
  await forge.settle()
  await stage.backUp()
  const config = await stage.target('target')
  const { repositories } = await contentOf(stage.archive, await findMoment(stage.archive, null))
  expect(repositories.size).toBe(8)
  for (const digest of [...repositories.values()].slice(0, 3)) {
    const file = join(stage.folder, 'backup/objects', digest.slice(0, 2), digest.slice(2))
    const content = await readFile(file)
    await rm(file)
    await expect.soft(restore(stage.archive, config)).rejects.toThrow(`the object ${digest} is missing`)
    expect.soft(await readdir(config.data).catch(() => null)).toBeNull()
    await writeFile(file, content)
  }
})

test('a backup goes neither into the data folder nor among other files', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { config } = forge.app
  const open = (where: string, create = true) =>
    openArchive(where, config, { create }).then(
      () => 'opened',
      (error: Error) => error.message,
    )
  expect(await open(join(config.data, 'backup'))).toContain('is inside the data folder')
  expect(await open(config.data)).toContain('is inside the data folder')
  await mkdir(join(stage.folder, 'other'))
  await writeFile(join(stage.folder, 'other/letter.txt'), '')
  expect(await open(join(stage.folder, 'other'))).toContain('is not empty and holds no backup')
  expect(await open(join(stage.folder, 'none'), false)).toContain('holds no backup')
  expect(await open('https://example.com/backup')).toBe('a backup goes to a folder or to s3://bucket')
})
