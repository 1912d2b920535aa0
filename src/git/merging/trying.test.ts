import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { tryMerges } from './trying.ts'

test('many pairs are one process, and leave nothing behind', async () => {
  const names = Array.from({ length: 40 }, (_, n) => `side${n}`)
  await using repository = await buildRepository(
    { files: { f: 'base\n' } },
    { branch: 'target', from: 'refs/heads/master', files: { f: 'target\n' } },
    ...names.map((branch, n) => ({
      branch,
      from: 'refs/heads/master',
      files: n % 2 ? { f: `${branch}\n`, 'ü "q"': 'x' } : { [branch]: 'x' },
    })),
  )
  const { dir, git } = repository
  const ours = await git('rev-parse', 'target')
  const pairs = (await git('rev-parse', ...names)).split('\n').map((theirs) => ({ ours, theirs }))
  const objects = () => git('count-objects', '-v')
  const before = await objects()
  let tried: Awaited<ReturnType<typeof tryMerges>> = []
  const started = await processesOf(async () => (tried = await tryMerges(dir, pairs)))
  expect(tried).toEqual(names.map((_, n) => ({ conflicts: n % 2 ? ['f'] : null })))
  expect(started.filter((words) => words.includes('merge-tree'))).toHaveLength(1)
  expect(await objects()).toBe(before)
  expect((await readdir(join(dir, 'objects'))).filter((name) => name.startsWith('tmp_'))).toEqual([])
  expect(await tryMerges(dir, [])).toEqual([])
})

test('one that git does not like says nothing of the others', async () => {
  const fine = { from: 'refs/heads/master' }
  await using repository = await buildRepository(
    { files: { f: 'base\n' } },
    { branch: 'ours', ...fine, files: { f: 'ours\n' } },
    { branch: 'good', ...fine, files: { g: 'x' } },
    { branch: 'island', files: { i: 'x' } },
    // A submodule without a commit makes git fail.
    { branch: 'broken', ...fine, files: { g: { mode: '160000', content: '0'.repeat(40) } } },
  )
  const { dir, git } = repository
  const id = async (name: string) => git('rev-parse', name)
  const ours = await id('ours')
  const pair = async (name: string) => ({ ours, theirs: await id(name) })
  const [good, island, broken] = [await pair('good'), await pair('island'), await pair('broken')]
  const missing = { ours, theirs: '1'.repeat(40) }
  expect(await tryMerges(dir, [island, good, island, missing, good])).toEqual([
    { conflicts: [] },
    { conflicts: null },
    { conflicts: [] },
    null,
    { conflicts: null },
  ])
  expect(await tryMerges(dir, [good, broken, good])).toEqual([{ conflicts: null }, null, { conflicts: null }])
})

test('one that takes too long is told apart from one that fails', async () => {
  await using repository = await buildRepository(
    { files: { f: 'base\n' } },
    { branch: 'ours', from: 'refs/heads/master', files: { f: 'ours\n' } },
    { branch: 'good', from: 'refs/heads/master', files: { g: 'x' } },
  )
  const { dir, git } = repository
  const [ours, theirs] = (await git('rev-parse', 'ours', 'good')).split('\n') as [string, string]
  expect(await tryMerges(dir, [{ ours, theirs }], { deadline: 0 })).toEqual(['overran'])
  const twice = [
    { ours, theirs },
    { ours, theirs },
  ]
  expect(await tryMerges(dir, twice, { deadline: 0 })).toEqual(['overran', 'overran'])
})
