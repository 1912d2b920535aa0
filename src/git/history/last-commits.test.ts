import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf, type BuiltCommit } from '../../../test/git-builder.ts'
import { lastCommits, prepareLastCommits } from './last-commits.ts'
import { closeReaders } from '../process/readers.ts'
import { sweepRepository } from '../storage/sweep.ts'

const titles = async (dir: string, name: string, path?: string) => {
  const found = await lastCommits(dir, name, path)
  return found && Object.fromEntries([...found].map(([entry, { title }]) => [entry, title]))
}

test('tells the commit that last changed each entry, by one walk at most, once', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', 'd/x': '1', 'd/y': '1', 'd/e/z': '1', 'mode.sh': '1' } },
    { message: 'two', files: { b: '1', 'd/x': '2' } },
    { message: 'three', files: { 'd/e/z': '2', 'mode.sh': { mode: '100755', content: '1' } } },
    { message: 'four', files: { b: null, c: '1', 'odd\n"é"': '1' } },
  )
  const { dir } = repo
  const root = { a: 'one', c: 'four', d: 'three', 'mode.sh': 'three', 'odd\n"é"': 'four' }
  const first = await processesOf(async () => expect(await titles(dir, 'master')).toEqual(root))
  expect(first.map(([, verb]) => verb)).toEqual(['cat-file'])
  const again = await processesOf(async () => expect(await titles(dir, 'HEAD')).toEqual(root))
  expect(again).toEqual([])
  expect(await titles(dir, 'master', 'd')).toEqual({ e: 'three', x: 'two', y: 'one' })
  expect(await titles(dir, 'master~2', '/d/')).toEqual({ e: 'one', x: 'two', y: 'one' })
  expect(await titles(dir, 'master~3')).toEqual({ a: 'one', d: 'one', 'mode.sh': 'one' })
  expect(await titles(dir, 'master', 'nowhere')).toBeNull()
  expect(await titles(dir, 'nowhere')).toBeNull()

  await repo.add({ message: 'five', files: { a: '2' } }, { message: 'six', files: { n: '1' } })
  const later = { ...root, a: 'five', n: 'six' }
  const next = await processesOf(async () => expect(await titles(dir, 'master')).toEqual(later))
  expect(next).toEqual([])
  const many = Array.from({ length: 30 }, (_, n) => ({ message: `more ${n}`, files: { n: `${n + 2}` } }))
  await repo.add(...many)
  const last = await processesOf(async () => expect(await titles(dir, 'master')).toEqual({ ...later, n: 'more 29' }))
  expect(last.map(([, verb]) => verb)).toEqual(['log'])
  expect(last[0]).toContain('--not')
})

test('merges count when they change something themselves, and what they threw away does not', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', b: '1', 'd/x': '1', 'd/y': '1' } },
    { message: 'side', branch: 'side', from: 'refs/heads/master', files: { a: 'thrown away', 'd/x': '2', s: '1' } },
    { message: 'main', files: { b: '2', 'd/y': '2' } },
    { message: 'late', branch: 'side', files: { a: 'thrown away, too' } },
    { message: 'merge', merge: 'refs/heads/side', files: { 'd/x': '2', s: '1' } },
  )
  const main = await repo.git('rev-parse', 'master~1')
  await repo.add({ message: 'evil', branch: 'evil', from: main, merge: 'refs/heads/side', files: { b: 'evil' } })
  const { dir } = repo
  expect(await titles(dir, 'master')).toEqual({ a: 'one', b: 'main', d: 'merge', s: 'side' })
  expect(await titles(dir, 'master', 'd')).toEqual({ x: 'side', y: 'main' })
  expect((await titles(dir, 'evil'))?.b).toBe('evil')
  for (const [name, title] of Object.entries((await titles(dir, 'master'))!))
    expect(await repo.git('log', '-1', '--format=%s', 'master', '--', name)).toBe(title)
})

test('a branch that was pushed over starts anew', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', b: '1' } },
    { message: 'two', files: { a: '2' } },
  )
  expect(await titles(repo.dir, 'master')).toEqual({ a: 'two', b: 'one' })
  await repo.add({ message: 'other', from: 'refs/heads/master~1', files: { b: '2', a: '2' } })
  expect(await titles(repo.dir, 'master')).toEqual({ a: 'other', b: 'other' })
})

test('agrees with git, entry by entry, over a random history', async () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return (seed >>> 16) % below
  }
  const commits = Array.from({ length: 80 }, (_, n): BuiltCommit => {
    const file = ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'd/e/b', 'f/a'][random(8)]!
    return { message: `c${n}`, files: { [file]: `${n}` } }
  })
  await using repo = await buildRepository(...commits)
  for (const name of ['master~40', 'master~20', 'master'])
    for (const path of ['', 'd', 'd/e'])
      for (const [entry, title] of Object.entries((await titles(repo.dir, name, path))!))
        expect(await repo.git('log', '-1', '--format=%s', name, '--', path === '' ? entry : `${path}/${entry}`)).toBe(
          title,
        )
})

test('branches that went apart know what they have in common', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', b: '1', c: '1', gone: '1', 'd/x': '1', old: '1' } },
    { message: 'two', files: { b: '2' } },
    { message: 'here', branch: 'here', from: 'refs/heads/master', files: { a: 'here', 'd/x': 'here', gone: null } },
    { message: 'there', branch: 'there', from: 'refs/heads/master', files: { c: 'there', 'd/x': 'there' } },
  )
  const { dir } = repo
  const here = { a: 'here', b: 'two', c: 'one', d: 'here', old: 'one' }
  const there = { a: 'one', b: 'two', c: 'there', d: 'there', gone: 'one', old: 'one' }
  for (const _ of [1, 2]) {
    expect(await titles(dir, 'here')).toEqual(here)
    expect(await titles(dir, 'there')).toEqual(there)
    await repo.add({ message: 'more', branch: 'here', from: 'refs/heads/here^0', files: { b: 'more', a: '1' } })
    expect(await titles(dir, 'here')).toEqual({ ...here, b: 'more', a: 'more' })
    await repo.git('update-ref', 'refs/heads/here', 'refs/heads/here~1')
  }

  // The new tip has all commits of the known one, so only the new commits are read.
  await repo.add({ message: 'five', branch: 'there', from: 'refs/heads/there^0', files: { d: null, 'e/x': '1' } })
  await titles(dir, 'master')
  await repo.add({ message: 'six', branch: 'master', files: { f: '1' } })
  const walks = await processesOf(async () =>
    expect(await titles(dir, 'there')).toEqual({ a: 'one', b: 'two', c: 'there', e: 'five', gone: 'one', old: 'one' }),
  )
  expect(walks).toEqual([])

  await repo.git('update-ref', '-d', 'refs/heads/there')
  await repo.git('reflog', 'expire', '--expire=now', '--all')
  await repo.git('gc', '--quiet', '--prune=now')
  closeReaders(dir)
  expect(await titles(dir, 'here~1')).toEqual({ a: 'one', b: 'two', c: 'one', d: 'one', gone: 'one', old: 'one' })
})

test('a merge that takes up what is older is not mistaken for the newer', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', b: '1' } },
    { message: 'side', branch: 'side', from: 'refs/heads/master', files: { s: '1' } },
    { message: 'two', files: { a: '2' } },
  )
  const { dir } = repo
  expect(await titles(dir, 'master')).toEqual({ a: 'two', b: 'one' })
  await repo.add({ message: 'merge', merge: 'refs/heads/side', files: { a: '1', s: '1' } })
  expect(await titles(dir, 'master')).toEqual({ a: 'one', b: 'one', s: 'side' })
})

test('prepared, a branch is shown without a walk, and its history is in the graph', async () => {
  await using repo = await buildRepository({ message: 'one', files: { a: '1', 'd/x': '1' } })
  const { dir } = repo
  const graphs = join(dir, 'objects/info/commit-graphs')
  await prepareLastCommits(dir, 'master')
  expect(await processesOf(async () => expect(await titles(dir, 'master')).toEqual({ a: 'one', d: 'one' }))).toEqual([])
  for (const n of [2, 3]) {
    await repo.add({ message: `change ${n}`, files: { a: `${n}` } })
    const started = await processesOf(() => prepareLastCommits(dir, 'master'))
    expect(started.map(([, verb]) => verb)).toEqual(['commit-graph'])
    expect(await titles(dir, 'master')).toEqual({ a: `change ${n}`, d: 'one' })
  }
  const [, ...verified] = (await repo.git('commit-graph', 'verify', '--no-progress')).split('\n')
  expect(verified).toEqual([])
  expect(await readdir(graphs)).toContain('commit-graph-chain')

  // Another process is writing, or was killed.
  await writeFile(join(graphs, 'commit-graph-chain.lock'), '')
  await repo.add({ message: 'last', files: { b: '1' } })
  await prepareLastCommits(dir, 'master')
  expect(await processesOf(async () => expect(await titles(dir, 'master')).toMatchObject({ b: 'last' }))).toEqual([])
  await sweepRepository(dir, { before: new Date(Date.now() + 1000) })
  expect(await readdir(graphs)).not.toContain('commit-graph-chain.lock')
  await expect(prepareLastCommits(dir, 'nowhere')).resolves.toBeUndefined()
})
