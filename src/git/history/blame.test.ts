import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { blame } from './blame.ts'

test('lines come in groups, with the commits they are from', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { 'a b.txt': 'a\nb\nc\nd\n', empty: '', 'line\nbreak': 'x' } },
    { message: 'two', author: 'Bob <bob@example.com>', files: { 'a b.txt': 'a\nB\r\nc\nd\n\tcaf\xe9' } },
    { message: 'three', files: { 'a b.txt': Buffer.from('a\nB\r\nc\n1\n2\nd\n\tcaf\xe9', 'latin1') } },
  )
  const told = async (path: string, input = {}) =>
    (await blame(repo.dir, 'master', path, input))?.map(({ commit, start, lines }) => [commit.title, start, ...lines])
  await told('empty') // starts the reader of objects
  const started = await processesOf(async () => {
    expect(await told('a b.txt')).toEqual([
      ['one', 1, 'a'],
      ['two', 2, 'B\r'],
      ['one', 3, 'c'],
      ['three', 4, '1', '2'],
      ['one', 6, 'd'],
      ['three', 7, '\tcaf\uFFFD'],
    ])
  })
  expect(started.map(([, verb]) => verb)).toEqual(['blame'])
  expect(await told('a b.txt', { start: 2, end: 3 })).toEqual([
    ['two', 2, 'B\r'],
    ['one', 3, 'c'],
  ])
  expect(await told('a b.txt', { start: 7 })).toEqual([['three', 7, '\tcaf\uFFFD']])
  expect(await told('a b.txt', { start: 0, end: 1 })).toEqual([['one', 1, 'a']])
  expect(await told('a b.txt', { start: 8, end: 9 })).toEqual([])
  expect(await told('a b.txt', { start: 3, end: 2 })).toEqual([])
  expect(await told('empty')).toEqual([])
  expect(await told('line\nbreak')).toEqual([['one', 1, 'x']])
  const [first] = (await blame(repo.dir, 'master', 'a b.txt', { start: 2, end: 2 }))!
  expect(first!.commit).toMatchObject({ author: { email: 'bob@example.com' }, parents: [expect.any(String)] })
})

test('the lines of a commit are asked of git once', async () => {
  await using repo = await buildRepository(
    { message: 'one', files: { a: '1\n2\n', b: '1\n' } },
    { message: 'two', files: { a: '1\n3\n' } },
  )
  const verbsOf = async (work: () => Promise<unknown>) => (await processesOf(work)).map(([, verb]) => verb)
  const ask = (path: string, input = {}) => blame(repo.dir, 'master', path, input)
  const first = await ask('a')
  await ask('b')
  expect(
    await verbsOf(async () => {
      expect(await ask('a')).toEqual(first)
      await ask('b')
    }),
  ).toEqual([])
  expect(await verbsOf(() => Promise.all([ask('a', { start: 2 }), ask('a', { start: 2 })]))).toEqual(['blame'])

  await repo.git('update-ref', 'refs/heads/master', 'master~1')
  expect((await ask('a'))!.map(({ commit, lines }) => [commit.title, ...lines])).toEqual([['one', '1', '2']])
})

test('what is no file of a commit has no blame', async () => {
  await using repo = await buildRepository({ files: { 'd/a': '1' } })
  for (const [name, path] of [
    ['nowhere', 'd/a'],
    ['master', 'd'],
    ['master', ''],
    ['master', '--contents'],
    ['-L', 'd/a'],
  ] as const)
    expect(await blame(repo.dir, name, path)).toBeNull()
})
