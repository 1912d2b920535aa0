import { existsSync } from 'node:fs'
import { readdir, readFile, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { poolOf, standAlone, useObjectsOf } from './alternates.ts'
import { bringCommit, copyRepository } from './copy.ts'
import { faultsOf } from './integrity.ts'
import { objectInfo } from '../objects/objects.ts'
import { fillPool, isUntidy, tidyPool } from './pools.ts'
import { openQuarantine } from '../push/quarantine.ts'
import { hasBitmap, housekeep, removeRepository, sizeOf } from './repositories.ts'

const mayTake = async () => true
const noise = (bytes: number) => Buffer.from(Uint8Array.from({ length: bytes }, () => Math.random() * 256))
const packsOf = async (dir: string) =>
  (await readdir(join(dir, 'objects/pack'))).filter((name) => name.endsWith('.pack')).length
const inside = (dir: string, ...args: string[]) => runGit([`--git-dir=${dir}`, ...args])

/** A source of a few hundred kilobytes, and folders for a pool and a fork. */
async function ground() {
  const folder = await temporaryFolder()
  const source = await buildRepository({ files: { big: noise(300_000) } }, { branch: 'side', files: { b: 'b' } })
  return {
    source,
    pool: join(folder.path, '@pools/ab/p.git'),
    fork: join(folder.path, 'cd/ef/f.git'),
    other: join(folder.path, 'cd/12/o.git'),
    root: folder.path,
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

test('a fork has only what the pool lacks, and neither needs the source', async () => {
  await using at = await ground()
  const { source, pool, fork, root } = at
  await fillPool(pool, source.dir, { mayTake })
  await source.add({ files: { later: noise(50_000) } })
  await copyRepository(source.dir, fork, { pool })

  expect(await readFile(join(fork, 'objects/info/alternates'), 'utf8')).toBe('../../../../@pools/ab/p.git/objects\n')
  const own = await sizeOf(fork)
  expect([own > 50_000, own < 100_000]).toEqual([true, true])
  expect(await inside(fork, 'for-each-ref')).toBe(await source.git('for-each-ref'))
  // Both may move together.
  await removeRepository(source.dir)
  await rename(root, `${root}-moved`)
  const moved = fork.replace(root, `${root}-moved`)
  expect(await inside(moved, 'fsck', '--full', '--strict')).toBe('')
  expect(await poolOf(moved)).toBe(pool.replace(root, `${root}-moved`))
  await rename(`${root}-moved`, root)
})

test('a pool takes branches and tags, what is new of them, and keeps what its source gives up', async () => {
  await using at = await ground()
  const { source, pool } = at
  const hidden = await source.write('blob', 'hidden')
  await source.git('update-ref', 'refs/keep-around/1', hidden)
  const first = await source.git('rev-parse', 'master')
  const processes = async (work: () => Promise<unknown>) => (await processesOf(work)).length
  expect(await processes(() => fillPool(pool, source.dir, { mayTake }))).toBeLessThan(8)
  expect(await objectInfo(pool, hidden)).toBeNull()
  const size = await sizeOf(join(pool, 'objects'))
  expect(size).toBeLessThan(310_000)

  expect(await processes(() => fillPool(pool, source.dir, { mayTake }))).toBeLessThan(4)
  await source.git('update-ref', '-d', 'refs/heads/master')
  await source.add({ files: { other: 'history' } })
  await fillPool(pool, source.dir, { mayTake })
  expect(await packsOf(pool)).toBe(2)
  expect((await sizeOf(join(pool, 'objects'))) - size).toBeLessThan(3000)
  await tidyPool(pool)
  expect(await inside(pool, 'cat-file', '-t', first)).toBe('commit')
  expect([await isUntidy(pool), await packsOf(pool)]).toEqual([false, 1])
  expect(await inside(pool, 'fsck', '--full', '--strict')).toBe('')
})

test('nothing is taken where it may not be, nor when it is given up', async () => {
  await using at = await ground()
  const { source, pool } = at
  await fillPool(pool, source.dir, { mayTake: async () => false })
  expect(existsSync(pool)).toBe(false)
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(fillPool(pool, source.dir, { mayTake, signal })).rejects.toThrow('enough')
  await fillPool(pool, source.dir, { mayTake })
  const before = await inside(pool, 'for-each-ref')
  await source.add({ files: { secret: 'secret' } })
  await fillPool(pool, source.dir, { mayTake: async () => false })
  expect(await inside(pool, 'for-each-ref')).toBe(before)
  expect(await objectInfo(pool, await source.git('rev-parse', 'master'))).toBeNull()
  // Commits that arrive after the tips were read are not taken.
  const late = async () => {
    await source.add({ files: { late: 'late' } })
    return true
  }
  await fillPool(pool, source.dir, { mayTake: late })
  expect(await objectInfo(pool, await source.git('rev-parse', 'master^'))).not.toBeNull()
  expect(await objectInfo(pool, await source.git('rev-parse', 'master'))).toBeNull()
})

test('several at once fill it once', async () => {
  await using at = await ground()
  const { source, pool } = at
  await Promise.all([1, 2, 3].map(() => fillPool(pool, source.dir, { mayTake })))
  expect(await packsOf(pool)).toBe(1)
})

test('what a cut short filling left stays: members may have dropped it', async () => {
  await using at = await ground()
  const { source, pool } = at
  await fillPool(pool, source.dir, { mayTake })
  const lost = await inside(pool, 'hash-object', '-w', join(source.dir, 'config'))
  await runGit(['-C', pool, 'repack', '-adq', '--keep-unreachable'])
  for (const name of await readdir(join(pool, 'objects/pack'))) await utimes(join(pool, 'objects/pack', name), 1, 1)
  await tidyPool(pool)
  expect(await inside(pool, 'cat-file', '-t', lost)).toBe('blob')
})

test('the source drops what the pool has; open readers are none the wiser', async () => {
  await using at = await ground()
  const { source, pool } = at
  await housekeep(source.dir)
  const big = await source.git('rev-parse', 'master:big')
  expect(await objectInfo(source.dir, big)).not.toBeNull()
  await fillPool(pool, source.dir, { mayTake })
  await tidyPool(pool)
  await useObjectsOf(source.dir, pool)
  expect([await hasBitmap(source.dir), await hasBitmap(pool)]).toEqual([false, true])
  await source.add({ files: { own: 'own' } })
  await housekeep(source.dir)
  expect(await hasBitmap(source.dir)).toBe(false)
  expect(await sizeOf(source.dir)).toBeLessThan(20_000)
  expect(await objectInfo(source.dir, big)).toMatchObject({ size: 300_000 })
  expect(await faultsOf(source.dir)).toEqual([])

  // Pushes can also build on objects of the pool.
  await using quarantine = await openQuarantine(source.dir)
  expect(await quarantine.isComplete([await source.git('rev-parse', 'master')])).toBe(true)
})

test('who stands alone again has everything itself', async () => {
  await using at = await ground()
  const { source, pool, fork } = at
  await fillPool(pool, source.dir, { mayTake })
  await copyRepository(source.dir, fork, { pool })
  expect(await standAlone(fork)).toBe(true)
  expect([await poolOf(fork), await standAlone(fork)]).toEqual([null, true])
  await removeRepository(pool)
  expect(await inside(fork, 'fsck', '--full', '--strict')).toBe('')
  await housekeep(fork)
  expect(await inside(fork, 'fsck', '--full', '--strict')).toBe('')
})

test('a pool that is not there is told', async () => {
  await using at = await ground()
  const { source, pool, fork } = at
  await fillPool(pool, source.dir, { mayTake })
  await copyRepository(source.dir, fork, { pool })
  await removeRepository(pool)
  expect(await faultsOf(fork)).toEqual([`it shares the objects of ${pool}, which is not there`])
  expect(await standAlone(fork)).toBe(false)
})

test('without a pool, a tidy source is copied by names for its files, any other by a pack of what is shown', async () => {
  await using at = await ground()
  const { source, fork, other } = at
  // Loose objects, then an overwritten commit: neither is copied as it is.
  const lost = await source.git('rev-parse', 'side')
  await housekeep(source.dir)
  await source.git('update-ref', '-d', 'refs/heads/side')
  const inodes = async (dir: string) => {
    const folder = join(dir, 'objects/pack')
    const names = (await readdir(folder)).filter((name) => name.endsWith('.pack'))
    return Promise.all(names.map(async (name) => (await stat(join(folder, name))).ino))
  }
  await copyRepository(source.dir, fork)
  expect(await inodes(fork)).not.toEqual(await inodes(source.dir))
  expect(await objectInfo(fork, lost)).toBeNull()

  await source.git('update-ref', 'refs/heads/side', lost)
  const dir = join(dirname(source.dir), 'second.git')
  await copyRepository(source.dir, dir)
  expect(await inodes(dir)).toEqual(await inodes(source.dir))
  await source.add({ files: { new: 'loose' } })
  await copyRepository(source.dir, other)
  await removeRepository(source.dir)
  for (const copy of [fork, dir, other]) expect(await inside(copy, 'fsck', '--full', '--strict')).toBe('')
  expect(await inside(other, 'show', 'master:new')).toBe('loose')
})

test('one commit is brought with all it needs, and no more', async () => {
  await using at = await ground()
  const { source, pool, fork } = at
  await fillPool(pool, source.dir, { mayTake })
  await copyRepository(source.dir, fork, { pool })
  await source.add({ files: { one: noise(20_000) } }, { files: { two: noise(30_000) } })
  const before = await sizeOf(fork)
  const id = await source.git('rev-parse', 'master^')
  await bringCommit(source.dir, fork, id)
  const brought = (await sizeOf(fork)) - before
  expect([brought > 20_000, brought < 25_000]).toEqual([true, true])
  await inside(fork, 'update-ref', 'refs/heads/new', id)
  expect(await inside(fork, 'fsck', '--full', '--strict')).toBe('')
  // The second time the commit already exists.
  const packs = await packsOf(fork)
  await bringCommit(source.dir, fork, id)
  expect(await packsOf(fork)).toBe(packs)
})
