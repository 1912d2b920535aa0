import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit, startGitOrigin, temporaryFolder } from '../../../test/git-origin.ts'
import { UnsafeArgument } from '../process/arguments.ts'
import { git } from '../process/command.ts'
import { copyRepository } from './copy.ts'
import { isLeftover } from './drafts.ts'
import {
  diskUse,
  createRepository,
  headOf,
  housekeep,
  isEmpty,
  removeRepository,
  repositoryExists,
  setHead,
  sizeOf,
} from './repositories.ts'

/** A folder with `from.git`: two branches, a tag, a hidden ref, and an overwritten commit. */
async function withSource() {
  const data = await temporaryFolder()
  await using origin = await startGitOrigin()
  const { dir } = await origin.addRepository(
    'x.git',
    { branch: 'main', files: { 'a.txt': 'one' }, tag: 'v1' },
    { branch: 'main', files: { 'a.txt': 'two' } },
    { branch: 'other', files: { 'b.txt': 'three' } },
    { branch: 'hidden', files: { 'secret.txt': 'four' } },
  )
  const inOrigin = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const hidden = await inOrigin('rev-parse', 'hidden')
  await inOrigin('update-ref', 'refs/keep/1', hidden)
  await inOrigin('branch', '-D', 'hidden')
  const from = join(data.path, 'from.git')
  await createRepository(from, { defaultBranch: 'main' })
  for (const part of ['objects', 'refs']) await cp(join(dir, part), join(from, part), { recursive: true })
  return { ...data, from, to: join(data.path, 'to.git'), hidden }
}

const refsOf = async (dir: string) =>
  (await git(dir, ['for-each-ref', '--format=%(objectname) %(refname)'])).split('\n')

test('a new repository is bare, empty, and named as asked', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'deep/down/x.git')
  expect(await repositoryExists(dir)).toBe(false)
  await createRepository(dir, { defaultBranch: 'trunk/one' })
  expect(await repositoryExists(dir)).toBe(true)
  expect([await isEmpty(dir), await headOf(dir)]).toEqual([true, 'trunk/one'])
  expect((await readdir(dir)).toSorted()).toEqual(['HEAD', 'config', 'objects', 'refs'])
  expect(await readdir(join(data.path, 'deep/down'))).toEqual(['x.git'])
  expect(await runGit([`--git-dir=${dir}`, 'rev-parse', '--is-bare-repository'])).toBe('true')
  const settings = [
    'gc.auto',
    'core.logallrefupdates',
    'transfer.fsckobjects',
    'receive.fsck.badTimezone',
    'core.fsync',
  ]
  expect(await Promise.all(settings.map((name) => runGit([`--git-dir=${dir}`, 'config', name])))).toEqual([
    '0',
    'false',
    'true',
    'ignore',
    'objects,derived-metadata,reference',
  ])
  expect(await runGit([`--git-dir=${dir}`, 'fsck'])).toBe('')
})

test('made twice, or by several at once, it is made once', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await Promise.all(Array.from({ length: 8 }, () => createRepository(dir, { defaultBranch: 'master' })))
  const { ino } = await stat(dir)
  await createRepository(dir, { defaultBranch: 'main' })
  expect([(await stat(dir)).ino, await headOf(dir)]).toEqual([ino, 'master'])
  expect(await readdir(data.path)).toEqual(['x.git'])
})

test('a hostile default branch makes nothing', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  for (const defaultBranch of ['', '-x', 'a..b', 'a\nb', 'HEAD'])
    await expect(createRepository(dir, { defaultBranch })).rejects.toThrow(UnsafeArgument)
  expect(await readdir(data.path)).toEqual([])
})

test('HEAD moves to a branch, born or not', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  await setHead(dir, 'feature/é')
  expect(await headOf(dir)).toBe('feature/é')
  for (const name of ['-d', '--delete', 'a b', 'refs/heads/x'])
    await expect(setHead(dir, name)).rejects.toThrow(UnsafeArgument)
  expect(await headOf(dir)).toBe('feature/é')
  await writeFile(join(dir, 'HEAD'), `${'1'.repeat(40)}\n`)
  expect(await headOf(dir)).toBeNull()
})

test('a removed repository is gone, and may be removed again', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  await removeRepository(dir)
  await removeRepository(dir)
  await removeRepository(join(data.path, 'never/was'))
  expect(await repositoryExists(dir)).toBe(false)
  expect(await readdir(data.path)).toEqual([])
})

test('size is what the files hold; commits are counted from a ref or a revision', async () => {
  await using source = await withSource()
  const { from } = source
  const before = await sizeOf(from)
  await writeFile(join(from, 'objects/info/more'), Buffer.alloc(12_345))
  expect(await sizeOf(from)).toBe(before + 12_345)
  expect(before).toBeGreaterThan(1000)
  expect(await sizeOf(join(from, 'missing'))).toBe(0)
  expect(await diskUse(join(from, 'missing'))).toBe(0)
  const used = await diskUse(from)
  const hundredths = (used / 1024 / 1024) * 100
  expect([used, Math.ceil(hundredths) - hundredths < 0.001]).toEqual([expect.any(Number), true])
  expect(used).toBeGreaterThan(await sizeOf(from))
  await writeFile(join(from, 'objects/info/large'), Buffer.alloc(5 * 1024 * 1024))
  expect((await diskUse(from)) - used).toBeCloseTo(5 * 1024 * 1024, -5)
  expect(await isEmpty(from)).toBe(false)
})

test('housekeeping leaves one pack with a bitmap, packed refs and a commit-graph; nothing reachable is lost', async () => {
  await using source = await withSource()
  const { from, hidden } = source
  const before = await refsOf(from)
  const lost = (await git(from, ['hash-object', '-w', '--stdin'], { input: 'not referred to yet' })).trim()
  await housekeep(from)
  await housekeep(from)
  const packs = await readdir(join(from, 'objects/pack'))
  expect(packs.filter((name) => name.endsWith('.bitmap'))).toHaveLength(1)
  expect(existsSync(join(from, 'objects/info/commit-graph'))).toBe(true)
  expect(await readdir(join(from, 'refs/heads'))).toEqual([])
  expect(await refsOf(from)).toEqual(before)
  // A running push may be about to reference it.
  for (const id of [hidden, lost]) expect(await runGit([`--git-dir=${from}`, 'cat-file', '-t', id])).toBeTruthy()
  expect(await runGit([`--git-dir=${from}`, 'fsck', '--strict'])).not.toMatch(/missing|broken/)
})

test('housekeeping an empty repository is fine', async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  await housekeep(dir)
  expect(await isEmpty(dir)).toBe(true)
})

test('a copy has branches, tags and HEAD, not what was hidden or lost, and outlives its source', async () => {
  await using source = await withSource()
  const { from, to, hidden, path } = source
  await copyRepository(from, to)
  const expected = (await refsOf(from)).filter((line) => !line.includes('refs/keep'))
  expect(await refsOf(to)).toEqual(expected)
  expect(await headOf(to)).toBe('main')
  await expect(runGit([`--git-dir=${to}`, 'cat-file', '-p', hidden])).rejects.toThrow('Not a valid object name')

  await removeRepository(from)
  expect(await runGit([`--git-dir=${to}`, 'fsck', '--strict'])).toBe('')
  expect(await runGit([`--git-dir=${to}`, 'show', 'main:a.txt'])).toBe('two')
  expect(await runGit([`--git-dir=${to}`, 'config', 'gc.auto'])).toBe('0')
  expect(await readdir(path)).toEqual(['to.git'])
})

test('a copy takes the place of an empty repository, and of no other', async () => {
  await using source = await withSource()
  const { from, to } = source
  await createRepository(to, { defaultBranch: 'master' })
  await copyRepository(from, to)
  expect(await headOf(to)).toBe('main')

  const { ino } = await stat(to)
  await setHead(to, 'other')
  await copyRepository(from, to)
  expect([(await stat(to)).ino, await headOf(to)]).toEqual([ino, 'other'])
})

test('an empty repository is copied as such', async () => {
  await using data = await temporaryFolder()
  const [from, to] = [join(data.path, 'from: a "b".git'), join(data.path, 'to.git')]
  await createRepository(from, { defaultBranch: 'trunk' })
  await copyRepository(from, to)
  expect([await headOf(to), await isEmpty(to)]).toEqual(['trunk', true])
})

test('a copy that fails or is given up leaves nothing, and what was there stays', async () => {
  await using source = await withSource()
  const { from, to, path } = source
  await createRepository(to, { defaultBranch: 'master' })
  await expect(copyRepository(from, to, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  await rm(join(from, 'objects/pack'), { recursive: true })
  await mkdir(join(from, 'objects/pack'))
  for (const name of await readdir(join(from, 'objects')))
    if (name.length === 2) await rm(join(from, 'objects', name), { recursive: true })
  await expect(copyRepository(from, to)).rejects.toMatchObject({ name: 'GitFailed' })
  expect(await headOf(to)).toBe('master')
  expect((await readdir(path)).toSorted()).toEqual(['from.git', 'to.git'])
})

test('names of the unfinished are known from names of repositories', () => {
  const id = '0b5b7f4e-6f0b-4a56-9a0e-0d6c2f1d9b11'
  expect(['x.git', `${id}.git`, 'x.new', `x.git.${id}.new`, `x.git.${id}.gone`].filter(isLeftover)).toEqual([
    `x.git.${id}.new`,
    `x.git.${id}.gone`,
  ])
})
