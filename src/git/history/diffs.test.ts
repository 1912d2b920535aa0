import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { commitDiff, diffBetween, HARD_LIMITS, type FileDiff } from './diffs.ts'

const CHANGED: Omit<FileDiff, 'oldPath' | 'newPath' | 'patch'> = {
  aMode: '100644',
  bMode: '100644',
  newFile: false,
  renamedFile: false,
  deletedFile: false,
  binary: false,
  additions: 0,
  deletions: 0,
  tooLarge: false,
  collapsed: false,
}

const numbered = (n: number, text = 'line') => Array.from({ length: n }, (_, i) => `${text} ${i}\n`).join('')

test('every kind of change is told, by one process', async () => {
  await using repo = await buildRepository(
    {
      files: {
        gone: 'x\n',
        changed: 'a\nb\nc\n',
        mode: 'm\n',
        old: numbered(30),
        binary: Buffer.of(0, 1),
        type: 'was a file\n',
        module: { mode: '160000', content: '1'.repeat(40) },
      },
    },
    {
      files: {
        gone: null,
        changed: 'a\nB\nc',
        mode: { mode: '100755', content: 'm\n' },
        old: null,
        'sub/new': numbered(30) + 'more\n',
        binary: Buffer.of(0, 2),
        type: { mode: '120000', content: 'target' },
        module: { mode: '160000', content: '2'.repeat(40) },
        born: '',
      },
    },
  )
  const both = (path: string) => ({ oldPath: path, newPath: path })
  const expected: FileDiff[] = [
    { ...CHANGED, ...both('binary'), binary: true, patch: 'Binary files a/binary and b/binary differ\n' },
    { ...CHANGED, ...both('born'), aMode: '0', newFile: true, patch: '' },
    {
      ...CHANGED,
      ...both('changed'),
      additions: 2,
      deletions: 2,
      patch: '@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n',
    },
    { ...CHANGED, ...both('gone'), bMode: '0', deletedFile: true, deletions: 1, patch: '@@ -1 +0,0 @@\n-x\n' },
    { ...CHANGED, ...both('mode'), bMode: '100755', patch: '' },
    {
      ...CHANGED,
      ...both('module'),
      aMode: '160000',
      bMode: '160000',
      additions: 1,
      deletions: 1,
      patch: `@@ -1 +1 @@\n-Subproject commit ${'1'.repeat(40)}\n+Subproject commit ${'2'.repeat(40)}\n`,
    },
    {
      ...CHANGED,
      oldPath: 'old',
      newPath: 'sub/new',
      renamedFile: true,
      additions: 1,
      patch: '@@ -28,3 +28,4 @@ line 26\n line 27\n line 28\n line 29\n+more\n',
    },
    { ...CHANGED, ...both('type'), bMode: '0', deletedFile: true, deletions: 1, patch: '@@ -1 +0,0 @@\n-was a file\n' },
    {
      ...CHANGED,
      ...both('type'),
      aMode: '0',
      bMode: '120000',
      newFile: true,
      additions: 1,
      patch: '@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n',
    },
  ]
  await commitDiff(repo.dir, 'master~1')
  const started = await processesOf(async () => {
    expect(await diffBetween(repo.dir, 'master~1', 'master')).toEqual({ files: expected, overflow: false })
  })
  expect(started.map(([, verb]) => verb)).toEqual(['diff-tree'])
  const again = async () => expect(await commitDiff(repo.dir, 'master')).toEqual({ files: expected, overflow: false })
  expect(await processesOf(again)).toEqual([])

  const plain = await diffBetween(repo.dir, 'master~1', 'master', { renames: false, context: 0 })
  expect(plain!.files.map(({ newPath }) => newPath)).toEqual([
    'binary',
    'born',
    'changed',
    'gone',
    'mode',
    'module',
    'old',
    'sub/new',
    'type',
    'type',
  ])
  expect(plain!.files[2]!.patch).toBe('@@ -2,2 +2,2 @@ a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n')
})

test('a root is compared with nothing, a merge with its first parent', async () => {
  await using repo = await buildRepository(
    { files: { a: '1\n' } },
    { branch: 'side', from: 'refs/heads/master', files: { s: '1\n' } },
    { files: { m: '1\n' } },
    { merge: 'refs/heads/side', files: { s: '1\n' } },
  )
  const paths = async (name: string) => (await commitDiff(repo.dir, name))?.files.map(({ newPath }) => newPath)
  expect(await paths('master')).toEqual(['s'])
  expect(await commitDiff(repo.dir, 'master~2')).toMatchObject({
    files: [{ newPath: 'a', newFile: true, aMode: '0', patch: '@@ -0,0 +1 @@\n+1\n' }],
  })
  expect(await diffBetween(repo.dir, 'master', 'master')).toEqual({ files: [], overflow: false })
  expect(await diffBetween(repo.dir, null, 'master~2^{tree}')).toBeNull()
  expect(await diffBetween(repo.dir, 'nowhere', 'master')).toBeNull()
  expect(await diffBetween(repo.dir, 'master', 'a..b')).toBeNull()
  expect(await commitDiff(repo.dir, '--output=x')).toBeNull()
})

test('no name and no content passes for another', async () => {
  const names = [
    'x\ndiff --git a/y b/y',
    ':100644 100644 x',
    'tab\tq"uote\\',
    '@@ -1 +1 @@',
    'é \u{1F600}',
    '-dash',
    '\xffcaf\xe9',
  ]
  const tricky = 'diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n:100644\n\n'
  await using repo = await buildRepository({ files: Object.fromEntries(names.map((name) => [name, tricky])) })
  const { files } = (await commitDiff(repo.dir, 'master'))!
  expect(files.map(({ newPath }) => newPath).toSorted()).toEqual([...names.slice(0, -1), 'caf\uFFFD'].toSorted())
  for (const file of files)
    expect(file).toMatchObject({
      additions: 5,
      binary: false,
      patch: `@@ -0,0 +1,5 @@\n${tricky.replaceAll(/^(?=[^]*\n)/gm, '+')}`,
    })
})

test('limits thin out the answer', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`f${String(n).padStart(2, '0')}`, numbered(10)]),
  )
  await using repo = await buildRepository({ files: { ...files, f03: numbered(2000) } })
  const diffsFor = async (input: Parameters<typeof commitDiff>[2]) => {
    const diff = (await commitDiff(repo.dir, 'master', input))!
    const shown = diff.files.map(({ patch, tooLarge, collapsed, additions }) =>
      [patch === '' ? '-' : '+', tooLarge ? 'L' : '', collapsed ? 'C' : '', additions].join(''),
    )
    return [shown.join(' '), diff.overflow]
  }
  expect(await diffsFor({ limits: { fileBytes: 1000 } })).toEqual([
    '+10 +10 +10 -L2000 +10 +10 +10 +10 +10 +10 +10 +10',
    false,
  ])
  expect(await diffsFor({ limits: { files: 2 } })).toEqual(['+10 +10', true])
  expect(await diffsFor({ limits: { files: 12 } })).toMatchObject([expect.stringContaining('+10 +10'), false])
  expect(await diffsFor({ limits: { lines: 25 } })).toEqual(['+10 +10 -C10', true])
  expect(await diffsFor({ limits: { bytes: 250 } })).toEqual(['+10 +10 -C10', true])
  expect(await diffsFor({ limits: { lines: 25 }, beyond: 'collapse' })).toEqual([
    '+10 +10 -C10 -C2000 -C10 -C10 -C10 -C10 -C10 -C10 -C10 -C10',
    true,
  ])
  expect(await diffsFor({ limits: { files: 11 }, beyond: 'collapse' })).toEqual([
    '+10 +10 +10 +2000 +10 +10 +10 +10 +10 +10 +10 -C10',
    true,
  ])
})

test('a change without end is read within bounds', async () => {
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`f${n}`, `${n}\n`]))
  await using repo = await buildRepository({ files: many }, { files: { long: 'x'.repeat(5_000_000) } })
  expect(await commitDiff(repo.dir, 'master~1')).toMatchObject({ files: { length: 100 }, overflow: true })
  const all = await commitDiff(repo.dir, 'master~1', { limits: HARD_LIMITS, beyond: 'collapse' })
  expect(all).toMatchObject({ files: { length: 1000 }, overflow: true })
  expect(await commitDiff(repo.dir, 'master')).toMatchObject({
    files: [{ tooLarge: true, patch: '' }],
    overflow: false,
  })
})
