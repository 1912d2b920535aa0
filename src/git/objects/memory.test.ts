import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../../test/git-builder.ts'
import { CacheBudget } from '../../lib/async/cache-budget.ts'
import { closeReaders } from '../process/readers.ts'
import { removeRepository } from '../storage/repositories.ts'
import { findCommit, knownCommits } from './commits.ts'
import { forget, Memory } from './memory.ts'
import { readKnown } from './objects.ts'
import { listTree } from './trees.ts'

test('is bounded by what values and keys take, and no value drives out all others', () => {
  const memory = new Memory<string>('texts', ({ length }) => length, new CacheBudget(8000))
  memory.set('/x', 'first', 'a'.repeat(500))
  memory.set('/x', 'huge', 'b'.repeat(2000))
  expect([memory.get('/x', 'first')?.length, memory.get('/x', 'huge')]).toEqual([500, undefined])
  for (let n = 0; n < 40; n++) memory.set('/x', `${n}${'k'.repeat(500)}`, '')
  const kept = Array.from({ length: 40 }, (_, n) => memory.get('/x', `${n}${'k'.repeat(500)}`))
  expect([memory.get('/x', 'first'), kept.filter((value) => value !== undefined).length]).toEqual([undefined, 12])
})

test('what is asked for at the same moment is made once, and failures are not kept', async () => {
  const memory = new Memory<number>('numbers')
  let made = 0
  const make = async () => ++made
  expect(await Promise.all([memory.recall('/x', 'a', make), memory.recall('/x', 'a', make)])).toEqual([1, 1])
  expect([await memory.recall('/x', 'a', make), await memory.recall('/y', 'a', make)]).toEqual([1, 2])
  const fail = () => Promise.reject(new Error('no'))
  await expect(memory.recall('/x', 'b', fail)).rejects.toThrow('no')
  expect(await memory.recall('/x', 'b', make)).toBe(3)
  expect(await memory.recall('/x', 'c', make, () => false)).toBe(4)
  expect(await memory.recall('/x', 'c', make)).toBe(5)
  forget('/x')
  expect([memory.get('/x', 'a'), memory.get('/y', 'a')]).toEqual([undefined, 2])
})

test('one repository does not tell what another has, nor a removed one what it had', async () => {
  await using repo = await buildRepository({ files: { secret: 'x' } })
  await using other = await buildRepository({ files: { open: 'y' } })
  const id = await repo.git('rev-parse', 'master')
  const blob = await repo.git('rev-parse', 'master:secret')
  const readings = async (dir: string) => [
    (await findCommit(dir, id))?.id,
    (await knownCommits(dir, [id]))[0]?.id,
    (await listTree(dir, id))?.length,
    (await readKnown(dir, [blob]))[0]?.size,
  ]
  const nothing = [undefined, undefined, undefined, undefined]
  expect(await readings(repo.dir)).toEqual([id, id, 1, 1])
  expect(await readings(other.dir)).toEqual(nothing)
  expect(await processesOf(() => readings(repo.dir))).toEqual([])

  await removeRepository(repo.dir)
  await other.git('clone', '--quiet', '--bare', other.dir, repo.dir)
  expect(await readings(repo.dir)).toEqual(nothing)
})

test('that a commit is there is asked of git again and again, not of memory', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const { dir } = repo
  const id = await repo.git('rev-parse', 'master')
  expect((await findCommit(dir, 'master'))?.id).toBe(id)
  await rm(join(dir, 'objects', id.slice(0, 2)), { recursive: true })
  closeReaders(dir)
  expect(await findCommit(dir, 'master')).toBeNull()
})
