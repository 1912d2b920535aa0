import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { readersIn } from '../../../test/git-readers.ts'
import { objectInfo, objectInfos, openBlob, readObject, readObjects } from './objects.ts'
import { closeReaders, MAX_READERS } from '../process/readers.ts'

const READER = ['git', 'cat-file', '--batch-command', '--buffer']

test('tells what an object is and what is in it, by any name', async () => {
  await using repo = await buildRepository({ files: { 'a.txt': 'hello\n' } })
  const commit = await repo.git('rev-parse', 'master')
  const blob = await repo.git('rev-parse', 'master:a.txt')
  await repo.git('-c', 'user.name=x', '-c', 'user.email=x@x', 'tag', '-m', 'one', 'v1', 'master')
  const tag = await repo.git('rev-parse', 'v1')

  expect(await objectInfo(repo.dir, blob)).toEqual({ id: blob, type: 'blob', size: 6 })
  expect(await objectInfo(repo.dir, blob.slice(0, 8))).toEqual({ id: blob, type: 'blob', size: 6 })
  expect(await objectInfo(repo.dir, 'v1')).toMatchObject({ id: tag, type: 'tag' })
  expect(await objectInfo(repo.dir, 'v1', { as: 'commit' })).toMatchObject({ id: commit, type: 'commit' })
  expect(await objectInfo(repo.dir, 'v1', { as: 'tree' })).toMatchObject({ type: 'tree' })
  expect(await objectInfo(repo.dir, blob, { as: 'commit' })).toBeNull()
  expect(await readObject(repo.dir, blob)).toEqual({ id: blob, type: 'blob', size: 6, content: Buffer.from('hello\n') })
  expect(await readObject(repo.dir, blob, { maxBytes: 5 })).toEqual({ id: blob, type: 'blob', size: 6, content: null })
  for (const name of ['nowhere', '', 'a b', 'x\ninfo HEAD', '-x', 'HEAD^{/x}', '1'.repeat(40)])
    expect(await readObject(repo.dir, name), name).toBeNull()
})

test('many are read by one process, in the order they were asked for', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}`, `${n}`.repeat(n)]))
  await using repo = await buildRepository({ files: { ...files, big: 'x'.repeat(100_000) } })
  const listing = await repo.git('ls-tree', 'master')
  const ids = new Map(listing.split('\n').map((line) => [line.split('\t')[1]!, line.split(/\s/)[2]!]))
  const names = Object.keys(files).flatMap((name) => [ids.get(name)!, 'missing'])

  const started = await processesOf(async () => {
    const objects = await readObjects(repo.dir, [...names, ids.get('big')!], { maxTotal: 90_000 })
    expect(objects.map((object) => object?.content?.toString() ?? null)).toEqual([
      ...Object.values(files).flatMap((content) => [content, null]),
      null,
    ])
    expect(objects.at(-1)).toMatchObject({ size: 100_000 })
    const infos = await Promise.all(names.map((name) => objectInfo(repo.dir, name)))
    expect(infos).toEqual(await objectInfos(repo.dir, names))
  })
  expect(started).toEqual([READER])
})

test('an open reader sees new refs, new packs and what a repack has moved', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const started = await processesOf(async () => {
    const first = await objectInfo(repo.dir, 'master')
    expect(await objectInfo(repo.dir, 'other')).toBeNull()
    await repo.add({ branch: 'other', from: 'refs/heads/master', files: { a: '2' } })
    const other = await repo.git('rev-parse', 'other')
    expect(await objectInfo(repo.dir, 'other')).toMatchObject({ id: other })
    await repo.git('pack-refs', '--all')
    await repo.git('repack', '-a', '-d', '-q', '-f')
    await repo.add({ branch: 'other', files: { a: '3' } })
    await repo.git('repack', '-a', '-d', '-q')
    expect(await readObject(repo.dir, 'other~1')).toMatchObject({ id: other, content: expect.any(Buffer) })
    expect(await readObject(repo.dir, 'other')).toMatchObject({ id: await repo.git('rev-parse', 'other') })
    expect(await objectInfo(repo.dir, 'master')).toEqual(first)
  })
  expect(started.filter(([, verb]) => verb === 'cat-file')).toEqual([READER])
})

test('a reader that dies is replaced, and what it owed is asked again', async () => {
  await using repo = await buildRepository({ files: { a: '1', b: '2' } })
  const blob = await repo.git('rev-parse', 'master:a')
  expect(await objectInfo(repo.dir, blob)).not.toBeNull()
  for (const pid of readersIn(repo.dir)) process.kill(Number(pid), 'SIGKILL')
  expect(await objectInfo(repo.dir, blob)).not.toBeNull()
  await expect.poll(() => readersIn(repo.dir)).toHaveLength(0)
  expect(await objectInfo(repo.dir, blob)).not.toBeNull()
})

test('a broken object fails alone', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const broken = await repo.write('blob', 'x'.repeat(50_000))
  const file = join(repo.dir, 'objects', broken.slice(0, 2), broken.slice(2))
  const bytes = readFileSync(file)
  await rm(file)
  await writeFile(file, bytes.subarray(0, bytes.length - 20))
  const [bad, good] = await Promise.allSettled([readObject(repo.dir, broken), readObject(repo.dir, 'master')])
  expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'GitFailed' } })
  expect(good).toMatchObject({ status: 'fulfilled', value: { type: 'commit' } })
  expect(await objectInfo(repo.dir, 'master')).toMatchObject({ type: 'commit' })
})

test('however many repositories are read, few processes do it', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const dirs = Array.from({ length: MAX_READERS + 6 }, (_, n) => join(repo.root, 'copies', `${n}.git`))
  for (const dir of dirs) await cp(repo.dir, dir, { recursive: true })
  const copies = join(repo.root, 'copies')
  let most = 0
  const counting = setInterval(() => (most = Math.max(most, readersIn(copies).length)), 20)
  for (let round = 0; round < 3; round++) {
    const found = await Promise.all(dirs.flatMap((dir) => [1, 2].map(() => readObject(dir, 'master'))))
    expect(found.every((object) => object?.type === 'commit')).toBe(true)
  }
  clearInterval(counting)
  const now = readersIn(copies).length
  expect(Math.max(most, now)).toBeLessThanOrEqual(MAX_READERS)
  expect(now).toBeGreaterThan(1)
  for (const dir of dirs) closeReaders(dir)
  await expect.poll(() => readersIn(copies)).toEqual([])
})

test('a big blob flows no faster than it is taken, and git ends with its stream', async () => {
  await using repo = await buildRepository({ files: { big: Buffer.alloc(30_000_000, 7), small: 'x' } })
  const id = await repo.git('rev-parse', 'master:big')
  const blob = await openBlob(repo.dir, id)
  expect(blob).toMatchObject({ id, size: 30_000_000 })
  const chunks: Buffer[] = []
  let most = 0
  for await (const chunk of blob!.stream) {
    // At first as a slow reader does: a stream that git fills freely would grow.
    for (let turn = 0; chunks.length < 50 && turn < 20; turn++) {
      await immediate()
      most = Math.max(most, blob!.stream.readableLength)
    }
    chunks.push(chunk)
  }
  expect(most).toBeLessThan(1_000_000)
  expect(Buffer.concat(chunks).equals(Buffer.alloc(30_000_000, 7))).toBe(true)

  const controller = new AbortController()
  const [left, aborted] = [await openBlob(repo.dir, id), await openBlob(repo.dir, id, { signal: controller.signal })]
  left!.stream.destroy()
  controller.abort(new Error('no longer wanted'))
  await expect(buffer(aborted!.stream)).rejects.toThrow('no longer wanted')
  const small = await repo.git('rev-parse', 'master:small')
  const started = await processesOf(async () =>
    expect(await buffer((await openBlob(repo.dir, small))!.stream)).toEqual(Buffer.from('x')),
  )
  expect(started).toEqual([])
  expect(await openBlob(repo.dir, 'master')).toBeNull()
  const empty = await openBlob(repo.dir, await repo.write('blob', ''))
  expect([empty!.size, await buffer(empty!.stream)]).toEqual([0, Buffer.alloc(0)])
})

test('objects in quarantine are seen by those who are told of it only', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const quarantine = join(repo.dir, 'objects', 'incoming')
  await mkdir(quarantine)
  const environment = {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.dir, 'objects'),
  }
  const { stdout } = spawnSync('git', ['hash-object', '-w', '--stdin'], {
    env: { ...environment, GIT_DIR: repo.dir, PATH: process.env.PATH },
    input: 'new',
  })
  const id = stdout.toString().trim()
  expect(existsSync(join(quarantine, id.slice(0, 2)))).toBe(true)
  expect(await readObject(repo.dir, id, { environment })).toMatchObject({ content: Buffer.from('new') })
  expect(await readObject(repo.dir, 'master', { environment })).toMatchObject({ type: 'commit' })
  expect(await readObject(repo.dir, id)).toBeNull()
})

test('an idle reader keeps no program from ending', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  // A reader that kept the program waiting would have ended before the program.
  const script = `
    import { readersIn } from ${JSON.stringify(join(import.meta.dirname, '../../../test/git-readers.ts'))}
    import { objectInfo } from ${JSON.stringify(join(import.meta.dirname, 'objects.ts'))}
    console.log((await objectInfo(${JSON.stringify(repo.dir)}, 'master')).type)
    process.on('exit', () => console.log(readersIn(${JSON.stringify(repo.dir)}).length + ' reader'))
  `
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  expect([stdout.toString(), status]).toEqual(['commit\n1 reader\n', 0])
})
