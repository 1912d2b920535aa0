import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { aheadBehind, countCommits, isAncestor, listCommits, mergeBase } from './history.ts'
import { commitStats, listContributors } from './stats.ts'
import type { HistoryOptions } from './walks.ts'

/** `two` and `side` fork after `one` and join in `merge`. */
const story = () =>
  buildRepository(
    { message: 'one', files: { 'a.txt': 'a\nb\nc\nd\n', 'old.txt': 'same\n'.repeat(20) }, at: 1000 },
    { message: 'side', branch: 'side', from: 'refs/heads/master', files: { s: '1' }, at: 2000 },
    { message: 'two', author: 'Bob <Bob@example.com>', files: { 'a.txt': 'a\nc\nd\nE\n' }, at: 3000 },
    { message: 'moved', files: { 'old.txt': null, 'new/name.txt': 'same\n'.repeat(20) }, at: 4000 },
    { message: 'merge', merge: 'refs/heads/side', files: { s: '1' }, at: 5000 },
  )

test('lists the history as it is wished', async () => {
  await using repo = await story()
  await repo.git('tag', 'v1', 'side')
  const titles = async (input: HistoryOptions & { skip?: number; limit?: number }) => {
    const commits = await listCommits(repo.dir, { limit: 20, ...input })
    return commits.map(({ title }) => title).join(' ')
  }
  expect(await titles({})).toBe('merge moved two side one')
  expect(await titles({ from: 'master', skip: 1, limit: 2 })).toBe('moved two')
  expect(await titles({ firstParent: true })).toBe('merge moved two one')
  expect(await titles({ noMerges: true, order: 'topo' })).toMatch(/^(side moved two|moved two side) one$/)
  expect(await titles({ from: ['side', 'master~2'] })).toBe('two side one')
  expect(await titles({ all: true, not: ['master~1'] })).toBe('merge side')
  expect(await titles({ from: 'master', not: ['nowhere', 'side'] })).toBe('merge moved two')
  expect(await titles({ since: new Date(2_000_000), until: new Date(4_000_000) })).toBe('moved two side')
  expect(await titles({ since: new Date(-1) })).toBe('merge moved two side one')
  expect(await titles({ author: 'bob@' })).toBe('two')
  expect(await titles({ author: '.*' })).toBe('')
  expect(await titles({ path: 'new/name.txt' })).toBe('moved')
  expect(await titles({ path: 'new' })).toBe('moved')
  expect(await titles({ path: 'new/name.txt', follow: true })).toBe('moved one')
  expect(await titles({ path: 'new/name.txt', follow: true, skip: 1, limit: 1 })).toBe('one')
  expect(await titles({ path: '*.txt' })).toBe('')
  for (const from of ['nowhere', '--all', 'side..master', [], ['master', 'nowhere']])
    expect(await titles({ from })).toBe('')
  expect(await titles({ limit: 0 })).toBe('')
})

test('counts and compares', async () => {
  await using repo = await story()
  const { dir } = repo
  const idOf = (name: string) => repo.git('rev-parse', name)
  expect(await countCommits(dir, {})).toBe(5)
  expect(await countCommits(dir, { from: 'master', not: ['side'], firstParent: true })).toBe(3)
  expect(await countCommits(dir, { from: 'nowhere' })).toBe(0)
  expect(await countCommits(dir, { all: true, path: 's' })).toBe(1)
  expect(await isAncestor(dir, 'side', 'master')).toBe(true)
  expect(await isAncestor(dir, 'side', 'master~1')).toBe(false)
  expect(await isAncestor(dir, 'master', 'master')).toBe(true)
  expect(await isAncestor(dir, 'nowhere', 'master')).toBe(false)
  expect(await mergeBase(dir, ['side', 'master~1'])).toBe(await idOf('master~3'))
  expect(await mergeBase(dir, ['master', 'side', 'master~2'])).toBe(await idOf('master~3'))
  expect(await mergeBase(dir, ['master', 'nowhere'])).toBeNull()
  expect(await mergeBase(dir, [])).toBeNull()
  expect(await aheadBehind(dir, 'side', 'master~1')).toEqual({ ahead: 1, behind: 2 })
  expect(await aheadBehind(dir, 'side', 'nowhere')).toBeNull()
  await repo.add({ branch: 'orphan', files: { x: '1' } })
  expect(await mergeBase(dir, ['master', 'orphan'])).toBeNull()
})

test('an empty repository has no history', async () => {
  await using repo = await buildRepository()
  expect(await listCommits(repo.dir, { limit: 20 })).toEqual([])
  expect(await listCommits(repo.dir, { all: true, limit: 20 })).toEqual([])
  expect(await countCommits(repo.dir, {})).toBe(0)
  expect(await listContributors(repo.dir, 'HEAD')).toEqual([])
})

test('tells the lines commits changed, against the first parent', async () => {
  await using repo = await story()
  const ids = (await repo.git('rev-parse', 'master', 'master~1', 'master~2', 'master~3')).split('\n')
  await repo.add({ message: 'nothing' }, { message: 'binary', files: { b: Buffer.of(0, 1, 2) } })
  const stats = await commitStats(repo.dir, [...ids, 'master', 'master~1', 'nowhere'])
  expect([...stats.values()]).toEqual([
    { additions: 1, deletions: 0 },
    { additions: 0, deletions: 0 },
    { additions: 1, deletions: 1 },
    { additions: 24, deletions: 0 },
    { additions: 0, deletions: 0 },
    { additions: 0, deletions: 0 },
  ])
  expect([...stats.keys()].slice(0, 4)).toEqual(ids)
  expect(await commitStats(repo.dir, ['nowhere'])).toEqual(new Map())
})

test('tells who made the commits that are no merges', async () => {
  await using repo = await story()
  await repo.add({ author: 'Countess <ada@example.com>', files: { x: '1' } })
  expect(await listContributors(repo.dir, 'master')).toEqual([
    { name: 'Countess', email: 'ada@example.com', commits: 4 },
    { name: 'Bob', email: 'Bob@example.com', commits: 1 },
  ])
})

test('the number of processes does not depend on the number of commits', async () => {
  await using repo = await buildRepository(...Array.from({ length: 60 }, (_, n) => ({ files: { a: `${n}` } })))
  const cost = (limit: number) =>
    processesOf(async () => {
      const commits = await listCommits(repo.dir, { limit })
      expect(commits).toHaveLength(limit)
      expect(
        (
          await commitStats(
            repo.dir,
            commits.map(({ id }) => id),
          )
        ).size,
      ).toBe(limit)
      await listContributors(repo.dir, 'master')
    })
  expect((await cost(1)).map(([, verb]) => verb)).toEqual(['cat-file', 'rev-list', 'log'])
  // The contributors and the earlier answers are cached by now.
  expect((await cost(2)).map(([, verb]) => verb)).toEqual([])
  expect((await cost(60)).map(([, verb]) => verb)).toEqual(['diff-tree'])
  expect(await cost(60)).toEqual([])
})
