import { expect, test } from 'vitest'
import { buildRepository, processesOf, type BuiltCommit } from '../../test/git-builder.ts'
import { lastCommits } from './last-commits.ts'

const titles = async (dir: string, name: string, path?: string) => {
  const found = await lastCommits(dir, name, path)
  return found && Object.fromEntries([...found].map(([entry, { title }]) => [entry, title]))
}

test('tells the commit that last changed each entry, by one walk, once', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1', 'd/x': '1', 'd/y': '1', 'd/e/z': '1', 'mode.sh': '1' } },
    { message: 'two', files: { b: '1', 'd/x': '2' } },
    { message: 'three', files: { 'd/e/z': '2', 'mode.sh': { mode: '100755', content: '1' } } },
    { message: 'four', files: { b: null, c: '1', 'odd\n"é"': '1' } },
  )
  const { dir } = repo
  const root = { a: 'one', c: 'four', d: 'three', 'mode.sh': 'three', 'odd\n"é"': 'four' }
  const first = await processesOf(async () => expect(await titles(dir, 'master')).toEqual(root))
  expect(first.map(([, verb]) => verb)).toEqual(['cat-file', 'log'])
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
  expect(next.map(([, verb]) => verb)).toEqual(['merge-base', 'log'])
  expect(next[1]).toContain('--not')
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
