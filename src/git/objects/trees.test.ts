import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { runGit, startGitOrigin } from '../../../test/git-origin.ts'
import { branch } from '../process/arguments.ts'
import { entryAt, isFile, listTree, rootEntries } from './trees.ts'

test('the root of a commit is told entry by entry, whatever the names', async () => {
  await using origin = await startGitOrigin()
  const files = { 'a b.txt': 'x', 'é\t"q".md': 'x', 'src/deep/c.ts': 'x' }
  const { dir } = await origin.addRepository('x.git', { branch: 'main', files })
  const blob = await runGit([`--git-dir=${dir}`, 'rev-parse', 'main:a b.txt'])
  const link = `120000 blob ${blob}\tlink\n160000 commit ${'1'.repeat(40)}\tmodule\n100755 blob ${blob}\trun\n`
  const tree = await runGit([`--git-dir=${dir}`, 'mktree', '--missing'], Buffer.from(link))
  const author = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
  const commit = await runGit([`--git-dir=${dir}`, ...author, 'commit-tree', '-m', 'x', tree])
  await runGit([`--git-dir=${dir}`, 'update-ref', 'refs/heads/odd', commit])

  const entries = async (name: string) =>
    (await rootEntries(dir, branch(name))).map((entry) => [entry.name, entry.type, isFile(entry)])
  expect(await entries('main')).toEqual([
    ['a b.txt', 'blob', true],
    ['src', 'tree', false],
    ['é\t"q".md', 'blob', true],
  ])
  expect(await entries('odd')).toEqual([
    ['link', 'blob', false],
    ['module', 'commit', false],
    ['run', 'blob', true],
  ])
  await expect(rootEntries(dir, branch('missing'))).rejects.toMatchObject({ name: 'GitFailed' })
})

test('folders are listed level by level or as a whole', async () => {
  const module = { mode: '160000', content: '1'.repeat(40) }
  await using repo = await buildRepository({
    files: {
      'README.md': 'x',
      'src/a.ts': 'a',
      'src/deep/b.ts': { mode: '100755', content: 'b' },
      'src/link': { mode: '120000', content: 'a.ts' },
      'src/vendor': module,
    },
  })
  const { dir } = repo
  const paths = async (path?: string, recursive = false) =>
    (await listTree(dir, 'master', path, { recursive }))?.map(({ mode, type, path }) => [mode, type, path].join(' ')) ??
    null
  const src = ['100644 blob src/a.ts', '040000 tree src/deep', '120000 blob src/link', '160000 commit src/vendor']
  expect(await paths()).toEqual(['100644 blob README.md', '040000 tree src'])
  expect(await paths('src')).toEqual(src)
  expect(await paths('/src//')).toEqual(src)
  expect(await paths('src', true)).toEqual(src.toSpliced(2, 0, '100755 blob src/deep/b.ts'))
  expect(await paths('src/deep', true)).toEqual(['100755 blob src/deep/b.ts'])
  for (const path of ['nowhere', 'README.md', 'src/vendor', '..', 'src/..', '.', ':(top)', '*'])
    expect(await paths(path), path).toBeNull()
  expect(await listTree(dir, 'nowhere')).toBeNull()
  expect(await entryAt(dir, 'master', 'src/deep/b.ts')).toEqual({
    id: await repo.git('rev-parse', 'master:src/deep/b.ts'),
    mode: '100755',
    type: 'blob',
    name: 'b.ts',
    path: 'src/deep/b.ts',
  })
  expect(await entryAt(dir, 'master', 'src')).toMatchObject({ type: 'tree', mode: '040000' })
  for (const path of ['', '/', 'nowhere', 'README.md/x', 'src/deep/b.ts/']) {
    const entry = await entryAt(dir, 'master', path)
    expect(entry?.path ?? null, path).toBe(path === 'src/deep/b.ts/' ? 'src/deep/b.ts' : null)
  }
  const started = await processesOf(async () => {
    await paths('src/deep')
    await entryAt(dir, 'master', 'src/deep/b.ts')
  })
  expect(started).toEqual([])
})

test('odd names are found as they are told', async () => {
  const names = ['-x', 'a\nb', 'tab\t', '"q"', ':(top)', '*', '.git\n', 'é', '\xffcaf\xe9']
  await using repo = await buildRepository({ files: Object.fromEntries(names.map((name) => [name, name])) })
  const entries = await listTree(repo.dir, 'master')
  expect(entries?.map(({ name }) => name).toSorted()).toEqual([...names.slice(0, -1), 'caf\uFFFD'].toSorted())
  for (const entry of entries!) expect(await entryAt(repo.dir, 'master', entry.path)).toEqual(entry)
  const all = await listTree(repo.dir, 'master', '', { recursive: true })
  expect(all).toEqual(entries)
})

test('a listing of all is what git lists, whatever is in it', async () => {
  await using repo = await buildRepository({
    files: {
      'a/b/c': '1',
      'a/b.txt': '2',
      'a.txt': '3',
      'a/link': { mode: '120000', content: 'b.txt' },
      'a/run': { mode: '100755', content: 'x' },
      'a/module': { mode: '160000', content: '1'.repeat(40) },
      'é\n"\t': '4',
      '\xff\xe9/\xe9': '5',
      'deep/er/and/er': '6',
      'same/b/c': '1',
    },
  })
  const { dir } = repo
  const blob = Buffer.from(await repo.git('rev-parse', 'master:a.txt'), 'hex')
  const sub = Buffer.from(await repo.git('rev-parse', 'master:a'), 'hex')
  const entry = (mode: string, name: string, id: Buffer) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), id])
  // Modes that old tools wrote, which git reads as others.
  const modes: [string, Buffer][] = [
    ['100664', blob],
    ['100775', blob],
    ['40755', sub],
    ['040000', sub],
    ['120777', blob],
    ['0', blob],
  ]
  const odd = await repo.write('tree', Buffer.concat(modes.map(([mode, id], n) => entry(mode, `${n}`, id))))
  const entries = async (name: string) =>
    ((await listTree(dir, name, '', { recursive: true })) ?? []).map(({ mode, type, id, path }) =>
      [mode, type, id, path].join(' '),
    )
  for (const name of ['master', odd, await repo.git('mktree')]) {
    const listing = await runGit([`--git-dir=${dir}`, 'ls-tree', '-r', '-t', '-z', name])
    expect(await entries(name), name).toEqual(
      listing
        .split('\0')
        .filter(Boolean)
        .map((line) => line.replace('\t', ' ')),
    )
  }
  expect(await processesOf(() => entries(odd))).toEqual([])

  // A few trees can occur at so many paths that a listing never ends.
  let bomb = await repo.write('tree', entry('100644', 'x', blob))
  for (let level = 0; level < 12; level++) {
    const id = Buffer.from(bomb, 'hex')
    bomb = await repo.write('tree', Buffer.concat('abcdefgh'.split('').map((name) => entry('40000', name, id))))
  }
  const started = await processesOf(() =>
    expect(listTree(dir, bomb, '', { recursive: true })).rejects.toMatchObject({ name: 'GitFailed', reason: 'output' }),
  )
  expect(started.map(([, verb]) => verb)).toEqual(['ls-tree'])
})
