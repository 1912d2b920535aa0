import { expect, test } from 'vitest'
import { findPaths } from '../../web/pages/project/find_file/fuzzy.ts'
import { layOut } from '../../web/pages/project/network/network.ts'

test('columns part where branches do and meet where they are merged', () => {
  const commits = [
    { id: 'merge', parent_ids: ['b', 'side'] },
    { id: 'side', parent_ids: ['a'] },
    { id: 'b', parent_ids: ['a'] },
    { id: 'a', parent_ids: ['older'] },
  ]
  const { dots, lines, columns } = layOut(commits)
  expect(dots.map(({ id, column }) => [id, column])).toEqual([
    ['merge', 0],
    ['side', 1],
    ['b', 0],
    ['a', 1],
  ])
  expect(lines.map(({ from, column, to }) => [from.id, column, to])).toEqual([
    ['merge', 0, 2],
    ['merge', 1, 1],
    ['side', 1, 3],
    ['b', 1, 3],
    ['a', 1, 4],
  ])
  expect(columns).toBe(2)
})

test('commits with thousands of parents share the last column, with one line each', () => {
  const parents = (row: number) => Array.from({ length: 5000 }, (_, n) => `${row} ${n}`)
  const commits = Array.from({ length: 100 }, (_, row) => ({
    id: `c${row}`,
    parent_ids: [`c${row + 1}`, ...parents(row)],
  }))
  const { dots, lines, columns } = layOut(commits, 24)
  expect(columns).toBe(24)
  expect(dots.map(({ column }) => column)).toEqual(commits.map(() => 0))
  // The first takes all columns; the others have one that continues, and one to the last.
  expect(lines.length).toBe(24 + 99 * 2)
  expect(lines.filter(({ column }) => column === 23).length).toBe(100)
})

test('the name itself counts more than its folders, letters in one piece more than apart', () => {
  const paths = ['web/components/Files.tsx', 'src/files/a.ts', 'f/i/l/e/s.ts']
  expect(findPaths(paths, 'files', 9).map(({ path }) => path)).toEqual([paths[0], paths[1], paths[2]])
  expect(findPaths(paths, 'wcf', 9)).toMatchObject([{ path: paths[0] }])
  expect(findPaths(paths, 'none', 9)).toEqual([])
  expect(findPaths(paths, '', 2)).toHaveLength(2)
})
