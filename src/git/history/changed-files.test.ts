import { expect, test } from 'vitest'
import { buildRepository } from '../../../test/git-builder.ts'
import { findCommits } from '../objects/commits.ts'
import { changedFiles } from './changed-files.ts'

const MANY = { files: 1000, bytes: 100_000 }

test('what each commit did to files, against its first parent', async () => {
  const text = 'one\ntwo\nthree\nfour\nfive\nsix\n'
  const odd = '0123456789012345678901234567890123456789'
  await using repository = await buildRepository(
    { files: { a: text, b: 'b', [odd]: 'x', 'new\nline': 'y' } },
    { files: { a: null, c: text, b: 'bb' } },
    { files: { b: null } },
    { message: 'empty' },
  )
  const commits = (await findCommits(repository.dir, ['master', 'master~1', 'master~2', 'master~3'])).map((one) => one!)
  const found = await changedFiles(repository.dir, commits, MANY)
  expect(commits.map(({ id }) => found.get(id))).toEqual([
    { added: [], modified: [], removed: [] },
    { added: [], modified: [], removed: ['b'] },
    { added: ['c'], modified: ['b'], removed: [] },
    { added: [odd, 'a', 'b', 'new\nline'], modified: [], removed: [] },
  ])
})

test('more than is wished of each is left out', async () => {
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`name-${n}`, `${count}`]))
  await using repository = await buildRepository({ files: files(30) }, { files: files(5) })
  const commits = (await findCommits(repository.dir, ['master~1', 'master'])).map((one) => one!)
  const [first, last] = commits.map(({ id }) => id)
  const few = await changedFiles(repository.dir, commits, { files: 10, bytes: 1000 })
  expect([few.get(first!)!.added.length, few.get(last!)!.modified.length]).toEqual([10, 5])
  const short = await changedFiles(repository.dir, commits, { files: 10, bytes: 15 })
  expect([short.get(first!)!.added.length, short.get(last!)!.modified.length]).toEqual([2, 2])
})
