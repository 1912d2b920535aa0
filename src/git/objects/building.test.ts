import { readdirSync, rmdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { BadChange, buildTree, type Change, isFileName, writeCommit, writeTag } from './building.ts'
import { writeObject } from './loose.ts'
import { closeReaders } from '../process/readers.ts'
import { createRepository } from '../storage/repositories.ts'

async function repository() {
  const data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  const run = (args: string[], input?: Uint8Array) => runGit([`--git-dir=${dir}`, ...args], input)
  return {
    dir,
    run,
    /** `path mode content` of all files. */
    async files(tree: string) {
      const lines = (await run(['ls-tree', '-r', '-z', tree])).split('\0').filter(Boolean)
      const files = lines.map((line) => /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line)!)
      return Object.fromEntries(
        await Promise.all(
          files.map(async ([, mode, id, path]) => [
            path!,
            `${mode} ${mode === '160000' ? id : await run(['cat-file', 'blob', id!])}`,
          ]),
        ),
      ) as Record<string, string>
    },
    async [Symbol.asyncDispose]() {
      closeReaders(dir)
      await data[Symbol.asyncDispose]()
    },
  }
}

const when = { name: 'A', email: 'a@example.com', date: new Date(1_700_000_000_000) }

const START: Change[] = [
  { path: 'a.txt', content: 'a' },
  { path: 'a-b/c', content: 'c', mode: '100755' },
  { path: 'a/b/c', content: new Uint8Array([0, 255]) },
  { path: 'a/d', content: 'a.txt', mode: '120000' },
  { path: '-rf', content: 'dash' },
  { path: 'ü/*?', content: 'ü' },
]

test('a tree is what git would have made of these files', async () => {
  await using repo = await repository()
  const tree = await buildTree(repo.dir, null, START)
  expect(await repo.files(tree)).toEqual({
    '-rf': '100644 dash',
    'a-b/c': '100755 c',
    'a.txt': '100644 a',
    'a/b/c': expect.stringMatching(/^100644 /),
    'a/d': '120000 a.txt',
    'ü/*?': '100644 ü',
  })
  // mktree sorts names in git's own order.
  expect(await repo.run(['mktree', '-z'], Buffer.from(await repo.run(['ls-tree', '-z', tree])))).toBe(tree)
  const commit = await writeCommit(repo.dir, { tree, parents: [], message: 'x', author: when, committer: when })
  await repo.run(['update-ref', 'refs/heads/master', commit])
  expect(await repo.run(['fsck', '--strict'])).toBe('')
})

test('changes touch what they name, and modes stay', async () => {
  await using repo = await repository()
  const first = await buildTree(repo.dir, null, START)
  const commit = await writeCommit(repo.dir, { tree: first, parents: [], message: 'x', author: when, committer: when })
  const blob = await writeObject(repo.dir, 'blob', 'by id')
  const tree = await buildTree(repo.dir, commit, [
    { path: 'a-b/c', content: 'C' },
    { path: 'a/d', content: 'elsewhere' },
    { path: 'a/b/c', content: null },
    { path: 'ü/*?', id: blob, mode: '100755' },
    { path: 'sub', id: '1'.repeat(40), mode: '160000' },
  ])
  expect(await repo.files(tree)).toEqual({
    '-rf': '100644 dash',
    'a-b/c': '100755 C',
    'a.txt': '100644 a',
    'a/d': '120000 elsewhere',
    sub: `160000 ${'1'.repeat(40)}`,
    'ü/*?': '100755 by id',
  })
  expect(await buildTree(repo.dir, tree, [])).toBe(tree)
  expect(await repo.files(await buildTree(repo.dir, tree, [{ path: 'sub', content: 'file' }]))).toMatchObject({
    sub: '100644 file',
  })
  const none = (await repo.run(['ls-tree', '-r', '--name-only', '-z', tree])).split('\0').filter(Boolean)
  const empty = await buildTree(
    repo.dir,
    tree,
    none.map((path) => ({ path, content: null })),
  )
  expect(empty).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
})

test('names that are no text stay as they are', async () => {
  await using repo = await repository()
  const blob = await writeObject(repo.dir, 'blob', 'x')
  const base = await repo.run(['mktree', '-z'], Buffer.from(`100644 blob ${blob}\t\xff\xfe\0`, 'latin1'))
  const tree = await buildTree(repo.dir, base, [{ path: 'y', content: 'y' }])
  expect(await repo.run(['ls-tree', tree])).toContain('"\\377\\376"')
})

describe('a file and a folder', () => {
  test.each<[string, Change[], string, string]>([
    ['a file where a folder is', [{ path: 'a', content: 'x' }], 'a', 'folder in the way'],
    ['a folder where a file is', [{ path: 'a.txt/x/y', content: 'x' }], 'a.txt/x/y', 'file in the way'],
    ['through a link', [{ path: 'a/d/x', content: 'x' }], 'a/d/x', 'file in the way'],
    [
      'both at once',
      [
        { path: 'n', content: 'x' },
        { path: 'n/m', content: 'x' },
      ],
      'n',
      'folder in the way',
    ],
    ['a folder removed as if it were a file', [{ path: 'a', content: null }], 'a', 'folder in the way'],
    ['what is not there', [{ path: 'a/x', content: null }], 'a/x', 'missing'],
    ['what is not there, in a folder that is not', [{ path: 'x/y', content: null }], 'x/y', 'missing'],
    [
      'twice',
      [
        { path: 'x', content: '1' },
        { path: 'x', content: null },
      ],
      'x',
      'twice',
    ],
  ])('refuses %s', async (_what, changes, path, reason) => {
    await using repo = await repository()
    const base = await buildTree(repo.dir, null, START)
    await expect(buildTree(repo.dir, base, changes)).rejects.toMatchObject({ name: 'BadChange', path, reason })
  })

  test('may change places', async () => {
    await using repo = await repository()
    const base = await buildTree(repo.dir, null, START)
    const tree = await buildTree(repo.dir, base, [
      { path: 'a/b/c', content: null },
      { path: 'a/d', content: null },
      { path: 'a', content: 'file now' },
      { path: 'a.txt', content: null },
      { path: 'a.txt/in', content: 'folder now' },
    ])
    expect(await repo.files(tree)).toMatchObject({ a: '100644 file now', 'a.txt/in': '100644 folder now' })
  })
})

test('hostile names make no tree, and leave nothing behind', async () => {
  await using repo = await repository()
  const parts = [
    '',
    '.',
    '..',
    '.git',
    '.GIT',
    '.Git ',
    '.git.',
    '.git . .',
    'git~1',
    'GIT~1',
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    '.g\u200cit',
    '\ufeff.git',
    '.gi\u202et',
    'a\\b',
    '..\\x',
    'a\0b',
    'a\nb',
    '\x7f',
    '\ud800',
    'x'.repeat(256),
    'é'.repeat(128),
  ]
  const paths = [
    ...parts.flatMap((part) => [part, `${part}/x`, `x/${part}`, `x/${part}/y`]),
    '/',
    '//',
    'x/'.repeat(3000),
  ]
  for (const path of paths)
    await expect(buildTree(repo.dir, null, [{ path, content: 'x' }]), JSON.stringify(path)).rejects.toThrow(BadChange)
  for (const name of ['.gitmodules', '.gitattributes', '.GITIGNORE', '.g\u200citmodules'])
    await expect(buildTree(repo.dir, null, [{ path: name, content: 'x', mode: '120000' }])).rejects.toThrow(BadChange)
  for (const id of ['', 'HEAD', '--help', '1'.repeat(39), '1'.repeat(40), '../x'])
    await expect(buildTree(repo.dir, null, [{ path: 'x', id }])).rejects.toThrow(TypeError)
  await expect(buildTree(repo.dir, '1'.repeat(40), [])).rejects.toThrow(TypeError)
  await expect(buildTree(repo.dir, '--help', [])).rejects.toThrow(TypeError)
  expect((await readdir(join(repo.dir, 'objects'))).toSorted()).toEqual(['info', 'pack'])
  for (const name of ['.gitignore', '.gitkeep', 'git', '.github', '...', ' ', '-', 'x'.repeat(255), '.git-x', 'git~']) {
    expect(isFileName(name), name).toBe(true)
  }
})

test('every name we take is one that git takes', async () => {
  await using repo = await repository()
  const pieces = ['.', 'git', 'GIT', '~1', ' ', ':', '\u200c', '\u202e', '\ufeff', '~', '1', '\\', 'x', 'modules']
  let state = 5
  const below = (n: number) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n
  const names = new Set<string>()
  for (let n = 0; n < 3000; n++)
    names.add(Array.from({ length: 1 + below(5) }, () => pieces[below(pieces.length)]).join(''))
  const taken = [...names].filter(isFileName)
  expect(taken.length).toBeGreaterThan(200)
  const tree = await buildTree(
    repo.dir,
    null,
    taken.map((path) => ({ path, content: '' })),
  )
  const commit = await writeCommit(repo.dir, { tree, parents: [], message: 'x', author: when, committer: when })
  await repo.run(['update-ref', 'refs/heads/master', commit])
  expect(await repo.run(['-c', 'core.protectNTFS=true', '-c', 'core.protectHFS=true', 'fsck', '--strict'])).toBe('')
})

test('an object that is there already is not written twice, and leaves no draft', async () => {
  await using repo = await repository()
  const bytes = Buffer.from([0, 1, 255, 10, 13])
  const id = await repo.run(['hash-object', '--stdin'], bytes)
  expect(await writeObject(repo.dir, 'blob', bytes)).toBe(id)
  expect(await writeObject(repo.dir, 'blob', bytes)).toBe(id)
  expect(await readdir(join(repo.dir, 'objects', id.slice(0, 2)))).toEqual([id.slice(2)])
})

test('objects find their folder while git removes empty ones', async () => {
  await using repo = await repository()
  const objects = join(repo.dir, 'objects')
  const writing = Promise.all(Array.from({ length: 50 }, (_, n) => writeObject(repo.dir, 'blob', String(n))))
  let isOver = false
  void writing.finally(() => (isOver = true))
  for (let removed = 0; removed < 8 && !isOver; await setImmediate())
    for (const folder of readdirSync(objects).map((name) => join(objects, name)))
      if (/[0-9a-f]{2}$/.test(folder) && readdirSync(folder).length === 0 && ++removed) rmdirSync(folder)
  expect(new Set(await writing).size).toBe(50)
})

test('a commit says exactly who, when and what', async () => {
  await using repo = await repository()
  const tree = await buildTree(repo.dir, null, [{ path: 'x', content: 'x' }])
  const author = {
    name: 'Zoë <z>',
    email: 'z@example.com\nevil: x',
    date: new Date('2020-02-03T04:05:06.999Z'),
    zone: '-0330',
  }
  const one = await writeCommit(repo.dir, { tree, parents: [], message: 'one', author, committer: when })
  const two = await writeCommit(repo.dir, {
    tree,
    parents: [one, one],
    message: ' two\0\n\nbody ',
    author: when,
    committer: author,
  })
  expect(await repo.run(['cat-file', 'commit', one])).toBe(
    [
      `tree ${tree}`,
      'author Zoë z <z@example.comevil:x> 1580702706 -0330',
      'committer A <a@example.com> 1700000000 +0000',
      '',
      'one',
    ].join('\n'),
  )
  expect((await repo.run(['cat-file', 'commit', two])).split('\n').slice(1, 3)).toEqual([
    `parent ${one}`,
    `parent ${one}`,
  ])
  expect(await repo.run(['log', '-1', '--format=%B|', two])).toBe(' two\n\nbody |')
  const parts = { tree, parents: [], message: '', author: when, committer: when }
  await expect(writeCommit(repo.dir, { ...parts, tree: 'HEAD' })).rejects.toThrow(TypeError)
  await expect(writeCommit(repo.dir, { ...parts, parents: ['x\ny'] })).rejects.toThrow(TypeError)
  await expect(writeCommit(repo.dir, { ...parts, author: { ...when, zone: 'Z' } })).rejects.toThrow(TypeError)

  const tag = await writeTag(repo.dir, { name: 'v1', object: one, message: 'first\n', tagger: when })
  await repo.run(['update-ref', 'refs/tags/v1', tag])
  expect(await repo.run(['cat-file', 'tag', 'v1'])).toBe(
    `object ${one}\ntype commit\ntag v1\ntagger A <a@example.com> 1700000000 +0000\n\nfirst`,
  )
  await repo.run([
    'update-ref',
    'refs/heads/two',
    await writeCommit(repo.dir, { ...parts, parents: [one], message: 'm' }),
  ])
  expect(await repo.run(['fsck', '--strict', 'refs/heads/two', 'refs/tags/v1'])).not.toMatch(/error|warning|missing/)
})
