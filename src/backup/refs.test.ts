import { readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupStage, objectsIn, refsIn, type Stage } from '../../test/backups.ts'
import { runGit } from '../../test/git-origin.ts'
import { DAY } from '../clock.ts'
import { findProjectById } from '../features/projects/projects/queries.ts'
import { repositoryDir } from '../features/projects/repositories/repository.ts'
import { blobColumns } from '../features/v4.ts'
import { startForge, type TestForge } from '../forge.ts'
import { contentOf, newestManifest } from './history.ts'
import { hasBuckets, manifestText, momentContent, repositoryRecord, type RepositoryRecord } from './manifest.ts'
import { openCapturer } from './open.ts'
import { readStoredRefs } from './refs.ts'
import { pruneArchive } from './retention.ts'

/** A project with so many branches, each with its own commit. */
async function manyBranches(forge: TestForge, count: number) {
  const { id } = await forge.project()
  await forge.seed({ id }, { 'a.txt': 'one' })
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, id))!)
  const lines = Array.from(
    { length: count },
    (_, n) => `commit refs/heads/topic-${n}\ncommitter A <a@example.com> ${n} +0000\ndata 1\nx\n`,
  )
  await runGit([`--git-dir=${dir}`, 'fast-import', '--quiet'], Buffer.from(lines.join('')))
  await runGit([`--git-dir=${dir}`, 'pack-refs', '--all'])
  await forge.settle()
  return { id, dir }
}

const liveRefs = (forge: TestForge) => refsIn(forge.app.config.storages['default']!)

async function newestRecord({ archive }: Stage): Promise<RepositoryRecord> {
  const { repositories } = await contentOf(archive, (await newestManifest(archive))!)
  const [digest] = repositories.values()
  return archive.readJson(digest!, repositoryRecord)
}

const bucketsOf = ({ refs }: RepositoryRecord) => (hasBuckets(refs) ? refs.buckets : [])
const pathOf = async ({ folder }: Stage, digest: string) =>
  join(
    folder,
    'backup/objects',
    [...(await objectsIn(folder))].find((path) => path.replaceAll('/', '').endsWith(digest))!,
  )

test('a push to a repository with thousands of refs stores few bytes, and each moment has its refs', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await manyBranches(forge, 5000)
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  const first = (await capturer.capture())!
  const before = {
    refs: await liveRefs(forge),
    record: await newestRecord(stage),
    objects: await objectsIn(stage.folder),
  }
  expect(first.counts.refs).toBe(5001)

  await forge.seed({ id }, { 'a.txt': 'two' })
  await forge.settle()
  const second = (await capturer.capture())!
  const record = await newestRecord(stage)
  expect(bucketsOf(record).filter((digest) => !bucketsOf(before.record).includes(digest))).toHaveLength(1)
  const { database } = await contentOf(stage.archive, (await newestManifest(stage.archive))!)
  const ofDatabase = new Set(JSON.stringify(database).match(/[0-9a-f]{64}/g))
  let bytes = 0
  for (const path of await objectsIn(stage.folder))
    if (!before.objects.has(path) && !ofDatabase.has(path.replaceAll('/', '').slice(-64)))
      bytes += (await stat(join(stage.folder, 'backup/objects', path))).size
  // All refs would be more than 100 KB.
  expect(bytes).toBeLessThan(20_000)

  for (const [time, refs] of [
    [first.time, before.refs],
    [second.time, await liveRefs(forge)],
  ] as const) {
    const { config, faults, counts } = await stage.restore({ at: time })
    expect(faults).toEqual([])
    expect(counts.refs).toBe(5001)
    expect(await refsIn(config.storages['default']!)).toEqual(refs)
  }
})

test('a small repository has its refs in the record', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { dir } = await manyBranches(forge, 499)
  await stage.backUp()
  expect(Object.keys((await newestRecord(stage)).refs)).toHaveLength(500)
  await runGit([`--git-dir=${dir}`, 'branch', 'another', 'topic-0'])
  await stage.backUp()
  expect((await newestRecord(stage)).refs).toMatchObject({ count: 501 })
  await runGit([`--git-dir=${dir}`, 'branch', '-D', 'another'])
  await stage.backUp()
  expect(Object.keys((await newestRecord(stage)).refs)).toHaveLength(500)
  const { config } = await stage.restore()
  expect(await refsIn(config.storages['default']!)).toEqual(await liveRefs(forge))
})

test('a backup of the format before, with all refs in the record, is restored', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await manyBranches(forge, 600)
  await stage.backUp()
  const { archive } = stage
  const { name, manifest } = (await newestManifest(archive))!
  const [{ time, content }] = manifest.moments as [{ time: string; content: string }]
  const moment = await archive.readJson(content, momentContent)
  const record = await newestRecord(stage)
  const refs = Object.fromEntries(await readStoredRefs(archive, record.refs))
  const [key] = Object.keys(moment.repositories)
  const digest = await archive.putJson({ ...record, refs })
  const old = await archive.putJson({ ...moment, repositories: { [key!]: digest } })
  await archive.writeManifest(name, manifestText({ ...manifest, format: 1, moments: [{ time, content: old }] }))
  for (const bucket of bucketsOf(record)) await archive.objects.remove(bucket)

  const { config, faults } = await stage.restore()
  expect(faults).toEqual([])
  expect(await refsIn(config.storages['default']!)).toEqual(await liveRefs(forge))
  await forge.seed({ id }, { 'a.txt': 'two' })
  await forge.settle()
  await stage.backUp()
  expect((await newestRecord(stage)).refs).toMatchObject({ count: 601 })
  expect((await stage.restore()).faults).toEqual([])
})

test('a damaged list of refs is refused by name', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  await manyBranches(forge, 600)
  await stage.backUp()
  const attempt = () =>
    stage.restore().then(
      () => 'restored',
      (error: Error) => error.message,
    )
  const record = await newestRecord(stage)
  const [bucket, another] = bucketsOf(record) as [string, string]
  const file = await pathOf(stage, bucket)
  const content = await readFile(file)
  await truncate(file, content.length - 10)
  expect(await attempt()).toBe(`the object ${bucket} is damaged`)
  await writeFile(file, Buffer.concat([content.subarray(0, -1), Buffer.from('x')]))
  expect(await attempt()).toBe(`the object ${bucket} is damaged`)
  await rm(file)
  expect(await attempt()).toBe(`the object ${bucket} is missing`)
  await writeFile(file, content)
  const read = (refs: RepositoryRecord['refs']) => readStoredRefs(stage.archive, refs)
  const buckets = bucketsOf(record)
  await expect(read({ count: 601, buckets: [another, ...buckets.slice(1)] })).rejects.toThrow(
    `the object ${another} holds refs of another list`,
  )
  await expect(read({ count: 601, buckets: buckets.slice(0, -1) })).rejects.toThrow('the list of its refs is not whole')
  expect(await attempt()).toBe('restored')
})

test('old lists of refs are removed with the moments that name them', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await manyBranches(forge, 600)
  await stage.backUp()
  const before = bucketsOf(await newestRecord(stage))
  await forge.seed({ id }, { 'a.txt': 'two' })
  await forge.settle()
  await stage.backUp()
  const after = bucketsOf(await newestRecord(stage))
  const old = new Date(Date.now() - 2 * DAY)
  for (const path of await objectsIn(stage.folder)) await utimes(join(stage.folder, 'backup/objects', path), old, old)
  await pruneArchive(stage.archive, new Date(Date.now() + DAY))
  const gone = []
  for (const digest of new Set([...before, ...after])) if (!(await stage.archive.objects.has(digest))) gone.push(digest)
  expect(gone).toEqual(before.filter((digest) => !after.includes(digest)))
  expect(gone).toHaveLength(1)
  const { config, faults } = await stage.restore()
  expect(faults).toEqual([])
  expect(await refsIn(config.storages['default']!)).toEqual(await liveRefs(forge))
})
