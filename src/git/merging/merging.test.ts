import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { UnsafeArgument } from '../process/arguments.ts'
import { buildTree, type Change, writeCommit } from '../objects/building.ts'
import { GitFailed } from '../process/command.ts'
import { cherryPick, mergeCommits, rebaseCommits, revertCommit, UnrelatedHistories } from './merging.ts'
import { closeReaders } from '../process/readers.ts'
import { createRepository } from '../storage/repositories.ts'

const by = { name: 'A', email: 'a@example.com', date: new Date(1_700_000_000_000) }

type Files = Record<string, string | null>

async function repository() {
  const data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  const run = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  return {
    dir,
    run,
    async commit(files: Files, ...parents: string[]) {
      const changes = Object.entries(files).map(([path, content]): Change => ({ path, content: content! }))
      const tree = await buildTree(dir, parents[0] ?? null, changes)
      return writeCommit(dir, { tree, parents, message: `${Object.keys(files).join()}\n`, author: by, committer: by })
    },
    show: async (tree: string | undefined, path: string) => run('cat-file', 'blob', `${tree}:${path}`),
    names: async (tree: string | undefined) => (await run('ls-tree', '-r', '--name-only', tree!)).split('\n'),
    async [Symbol.asyncDispose]() {
      closeReaders(dir)
      await data[Symbol.asyncDispose]()
    },
  }
}

const TEXT = Array.from({ length: 20 }, (_, n) => `line ${n}\n`)
const withLine = (n: number, text: string) => TEXT.map((line, at) => (at === n ? text : line)).join('')

test('two sides that agree make one tree', async () => {
  await using repo = await repository()
  const base = await repo.commit({ f: TEXT.join(''), old: 'moved\n'.repeat(9) })
  const ours = await repo.commit({ f: withLine(2, 'ours\n') }, base)
  const theirs = await repo.commit({ f: withLine(15, 'theirs\n'), new: 'n' }, base)
  const { tree, conflicts } = await mergeCommits(repo.dir, { ours, theirs })
  expect(conflicts).toBeUndefined()
  const merged = await repo.show(tree, 'f')
  expect(merged.split('\n')[2]).toBe('ours')
  expect(merged.split('\n')[15]).toBe('theirs')
  expect(await repo.names(tree)).toEqual(['f', 'new', 'old'])
  // No ref has moved.
  expect(await repo.run('for-each-ref')).toBe('')

  const renamed = await repo.commit({ old: null, fresh: 'moved\n'.repeat(9) }, base)
  const edited = await repo.commit({ old: `${'moved\n'.repeat(9)}more\n` }, base)
  const followed = await mergeCommits(repo.dir, { ours: renamed, theirs: edited })
  expect(await repo.show(followed.tree, 'fresh')).toContain('more')
  expect(await mergeCommits(repo.dir, { ours, theirs: base })).toEqual({
    tree: await repo.run('rev-parse', `${ours}^{tree}`),
  })
})

test('sides that do not agree are named, file by file', async () => {
  await using repo = await repository()
  const base = await repo.commit({ f: TEXT.join(''), gone: 'x' })
  const ours = await repo.commit({ f: withLine(2, 'ours\n'), gone: null, 'ü "q"': 'ours' }, base)
  const theirs = await repo.commit({ f: withLine(2, 'theirs\n'), gone: 'y', 'ü "q"': 'theirs' }, base)
  const id = (rev: string) => repo.run('rev-parse', rev)
  const { conflicts } = await mergeCommits(repo.dir, { ours, theirs })
  const side = async (rev: string) => ({ mode: '100644', id: await id(rev) })
  expect(conflicts).toEqual([
    { path: 'f', base: await side(`${base}:f`), ours: await side(`${ours}:f`), theirs: await side(`${theirs}:f`) },
    { path: 'gone', base: await side(`${base}:gone`), ours: null, theirs: await side(`${theirs}:gone`) },
    { path: 'ü "q"', base: null, ours: await side(`${ours}:ü "q"`), theirs: await side(`${theirs}:ü "q"`) },
  ])
})

test('a folder renamed two ways is a conflict, though no file is', async () => {
  await using repo = await repository()
  const many = (folder: string, names: string[], content: string | null) =>
    Object.fromEntries(names.map((name) => [`${folder}/${name}`, content && `${content} ${name}\n`.repeat(5)]))
  const names = ['a', 'b', 'c', 'd']
  const base = await repo.commit(many('z', names, 'text'))
  const ours = await repo.commit(
    { ...many('z', names, null), ...many('y', ['a', 'b'], 'text'), ...many('x', ['c', 'd'], 'text') },
    base,
  )
  const theirs = await repo.commit({ 'z/new': 'new' }, base)
  expect((await mergeCommits(repo.dir, { ours, theirs })).conflicts).toBeDefined()
})

test('histories without a common commit are merged only from a given base', async () => {
  await using repo = await repository()
  const ours = await repo.commit({ a: 'a' })
  const theirs = await repo.commit({ b: 'b' })
  await expect(mergeCommits(repo.dir, { ours, theirs })).rejects.toThrow(UnrelatedHistories)
  const { tree } = await mergeCommits(repo.dir, { ours, theirs, base: await repo.commit({ a: 'a', b: 'b' }) })
  expect(tree).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
  for (const bad of ['--help', 'x y', ''])
    await expect(mergeCommits(repo.dir, { ours: bad, theirs })).rejects.toThrow(UnsafeArgument)
  await expect(mergeCommits(repo.dir, { ours: '1'.repeat(40), theirs })).rejects.toThrow(GitFailed)
})

test('a commit is picked, or reverted, elsewhere', async () => {
  await using repo = await repository()
  const root = await repo.commit({ f: TEXT.join('') })
  const first = await repo.commit({ f: withLine(2, 'first\n') }, root)
  const second = await repo.commit({ g: 'g' }, first)
  const other = await repo.commit({ h: 'h' }, root)

  const picked = await cherryPick(repo.dir, { commit: second, onto: other })
  expect(await repo.names(picked?.tree)).toEqual(['f', 'g', 'h'])
  expect(await repo.show(picked?.tree, 'f')).not.toContain('first')
  expect(await cherryPick(repo.dir, { commit: first, onto: second })).toBeNull()

  const reverted = await revertCommit(repo.dir, { commit: first, onto: second })
  expect(await repo.show(reverted?.tree, 'f')).toBe(TEXT.join('').trimEnd())
  expect(await repo.names(reverted?.tree)).toEqual(['f', 'g'])
  expect(await revertCommit(repo.dir, { commit: second, onto: other })).toBeNull()

  const changed = await repo.commit({ f: withLine(2, 'changed\n') }, other)
  expect((await cherryPick(repo.dir, { commit: first, onto: changed }))?.conflicts?.map(({ path }) => path)).toEqual([
    'f',
  ])
  expect((await revertCommit(repo.dir, { commit: first, onto: changed }))?.conflicts).toHaveLength(1)

  const orphan = await repo.commit({ o: 'o' })
  const withOrphan = await cherryPick(repo.dir, { commit: orphan, onto: other })
  expect(await repo.names(withOrphan?.tree)).toEqual(['f', 'h', 'o'])
  expect(
    await repo.names(
      (await revertCommit(repo.dir, { commit: orphan, onto: await repo.commit({ o: 'o' }, other) }))?.tree,
    ),
  ).toEqual(['f', 'h'])
})

test('of a merge, what came in over one parent', async () => {
  await using repo = await repository()
  const root = await repo.commit({ f: 'f' })
  const left = await repo.commit({ left: 'l' }, root)
  const right = await repo.commit({ right: 'r' }, root)
  const merge = await repo.commit({ right: 'r' }, left, right)
  const pick = async (mainline?: number) =>
    repo.names((await cherryPick(repo.dir, { commit: merge, onto: root, ...(mainline && { mainline }) }))?.tree)
  expect(await pick()).toEqual(['f', 'right'])
  expect(await pick(2)).toEqual(['f', 'left'])
  await expect(cherryPick(repo.dir, { commit: merge, onto: root, mainline: 3 })).rejects.toThrow(RangeError)
  expect(await repo.names((await revertCommit(repo.dir, { commit: merge, onto: merge }))?.tree)).toEqual(['f', 'left'])
})

test('commits are made again on top of another', async () => {
  await using repo = await repository()
  const root = await repo.commit({ f: TEXT.join('') })
  const a = await repo.commit({ a: 'a' }, root)
  const b = await repo.commit({ f: withLine(3, 'b\n') }, a)
  const target = await repo.commit({ f: withLine(15, 'target\n'), a: 'a' }, root)
  const committer = { ...by, name: 'Rebaser', zone: '+0530' }

  const result = await rebaseCommits(repo.dir, { from: b, onto: target, committer })
  // `a` adds nothing new there.
  expect(await repo.run('log', '--format=%an %cn %s', `${target}..${result?.head}`)).toBe('A Rebaser f')
  expect(await repo.run('rev-parse', `${result?.head}^`)).toBe(target)
  expect(await repo.show(result?.head, 'f')).toContain('target')
  expect(await rebaseCommits(repo.dir, { from: b, onto: root, committer })).toBeNull()
  expect(await rebaseCommits(repo.dir, { from: root, onto: b, committer })).toEqual({ head: b })

  const clash = await repo.commit({ f: withLine(3, 'clash\n') }, root)
  expect(await rebaseCommits(repo.dir, { from: b, onto: clash, committer })).toMatchObject({
    commit: b,
    conflicts: [{ path: 'f' }],
  })
})
