import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { buildRepository } from '../../../test/git-builder.ts'
import { archive, canArchive, type ArchiveFormat } from './archive.ts'

const UNPACKERS: Record<ArchiveFormat, string[]> = {
  tar: ['tar', '-tf'],
  'tar.gz': ['tar', '-tzf'],
  'tar.bz2': ['tar', '-tjf'],
  zip: ['python3', '-m', 'zipfile', '-l'],
}

test.each(Object.entries(UNPACKERS))('%s holds the files in their folder', async (format, [program, ...args]) => {
  await using repo = await buildRepository({ files: { 'a.txt': 'a', 'src/b.txt': 'b' } })
  const namesIn = async (path?: string) => {
    const input = { format: format as ArchiveFormat, prefix: 'x-master', ...(path === undefined ? {} : { path }) }
    const file = join(repo.root, 'archive')
    await writeFile(file, await buffer((await archive(repo.dir, 'master', input))!))
    return spawnSync(program!, [...args, file])
      .stdout.toString()
      .match(/x-master\S*/g)
  }
  expect(await canArchive(format as ArchiveFormat)).toBe(true)
  expect(await namesIn()).toEqual(['x-master/', 'x-master/a.txt', 'x-master/src/', 'x-master/src/b.txt'])
  expect(await namesIn('src')).toEqual(['x-master/', 'x-master/src/', 'x-master/src/b.txt'])
})

test('files and folders are left out by their names, which are no patterns', async () => {
  const names = ['a/b/x', 'a/y', '*', ':(top)', '-z', 'z']
  await using repo = await buildRepository({ files: Object.fromEntries(names.map((name) => [name, 'x'])) })
  const left = async (exclude: string[], path?: string) => {
    const input = { format: 'tar', prefix: 'p', exclude, ...(path !== undefined && { path }) } as const
    const stream = await archive(repo.dir, 'master', input)
    const listed = stream && spawnSync('tar', ['-t'], { input: await buffer(stream) }).stdout.toString()
    return listed && names.filter((name) => listed.split('\n').includes(`p/${name}`))
  }
  expect(await left([])).toEqual(names)
  expect(await left(['a/b'])).toEqual(['a/y', '*', ':(top)', '-z', 'z'])
  expect(await left(['/a/', '*', 'nowhere'])).toEqual([':(top)', '-z', 'z'])
  expect(await left([':(top)', '-z', '?', '../x', ''])).toEqual(['a/b/x', 'a/y', '*', 'z'])
  expect(await left(['a/b', 'z'], 'a')).toEqual(['a/y'])
  expect(await left(['z'], '*')).toEqual(['*'])
  expect(await left(names)).toEqual([])

  await using deep = await buildRepository({ files: { 'a/b/x': 'x', 'a/b/y': 'y' } })
  const input = { format: 'tar', prefix: 'p' } as const
  for (const all of ['a', 'a/b']) expect(await archive(deep.dir, 'master', { ...input, exclude: [all] })).toBeNull()
  const rest = await archive(deep.dir, 'master', { ...input, exclude: ['a/b/x'] })
  expect(spawnSync('tar', ['-t'], { input: await buffer(rest!) }).stdout.toString()).toContain('p/a/b/y\n')
})

test('there is no archive of what is not there, or to where it must not go', async () => {
  await using repo = await buildRepository({ files: { a: 'a', '\xffcaf\xe9/b': 'odd' } })
  const input = { format: 'tar', prefix: 'x' } as const
  expect(await archive(repo.dir, 'master', { ...input, path: 'caf\ufffd' })).toBeNull()
  expect(await archive(repo.dir, 'master', { ...input, path: 'caf\ufffd/b' })).toBeNull()
  expect(await archive(repo.dir, 'nowhere', input)).toBeNull()
  expect(await archive(repo.dir, '--output=x', input)).toBeNull()
  expect(await archive(repo.dir, 'master', { ...input, path: 'nowhere' })).toBeNull()
  for (const prefix of ['../x', '/x', '-x', 'a/../b', '', 'x\n'])
    await expect(archive(repo.dir, 'master', { ...input, prefix })).rejects.toMatchObject({ name: 'UnsafeArgument' })
})

test('who gives up ends git and the compressor', async () => {
  await using repo = await buildRepository({ files: { big: Buffer.alloc(50_000_000, 1) } })
  const left = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`GIT_DIR=${repo.dir}\0`) &&
          /^(git\0archive|bzip2|(\/bin\/)?sh)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        )
      } catch {
        return false
      }
    })
  for (const format of ['tar', 'tar.bz2'] as const) {
    const controller = new AbortController()
    const aborted = await archive(repo.dir, 'master', { format, prefix: 'x', signal: controller.signal })
    const dropped = await archive(repo.dir, 'master', { format, prefix: 'x' })
    await expect.poll(() => left().length).toBeGreaterThan(1)
    controller.abort(new Error('no longer wanted'))
    dropped!.destroy()
    await expect(buffer(aborted!)).rejects.toThrow('no longer wanted')
    await expect.poll(() => left()).toEqual([])
  }
})
