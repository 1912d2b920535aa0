import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { workspace } from '../../../test/workspace.ts'
import { gitBytes } from '../process/command.ts'
import { readPointers } from './pointers.ts'
import { openQuarantine } from '../push/quarantine.ts'
import { createRepository } from '../storage/repositories.ts'
import { openSmallPack } from '../push/small-pack.ts'
import { moveRefs, NO_OBJECT } from '../refs/update.ts'

const pointer = (digit: string, size = 7) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize ${size}\n`
const text = (lines: number, word = 'line') => Array.from({ length: lines }, (_, n) => `${word} ${n}`).join('\n')

/** A repository, and a folder where commits are created and packed like a client's. */
async function stage() {
  const work = await workspace()
  const dir = join(work.folder, 'origin.git')
  await createRepository(dir, { defaultBranch: 'master' })
  await work.git('init', '-q', '-b', 'master', 'src')
  const src = join(work.folder, 'src')
  const commit = async (files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(src, name, '..'), { recursive: true })
      await writeFile(join(src, name), content)
    }
    await work.git('-C', 'src', 'add', '-A')
    await work.git('-C', 'src', 'commit', '-q', '--allow-empty', '-m', 'x')
    return (await work.git('-C', 'src', 'rev-parse', 'HEAD')).stdout
  }
  let known = ''
  /** The content of a push of the tip, in quarantine. Then it joins the repository. */
  const push = async (tip: string, forms: ('--thin' | '--delta-base-offset')[] = ['--thin', '--delta-base-offset']) => {
    const pack = await gitBytes(join(src, '.git'), ['pack-objects', '--revs', '--stdout', '-q', ...forms], {
      input: `${tip}\n${known && `^${known}\n`}`,
    })
    await using quarantine = await openQuarantine(dir)
    await quarantine.receive(Readable.from([pack]), {})
    const { environment } = quarantine
    const peeked = await openSmallPack(environment.GIT_OBJECT_DIRECTORY!)
    const found = {
      may: peeked?.mayHoldPointers() ?? null,
      leads: peeked?.leads(tip, known),
      oids: (await readPointers(dir, [tip], environment)).map(({ oid }) => oid.slice(0, 1)).toSorted(),
    }
    await quarantine.accept()
    const ref = `refs/heads/b${(await readdir(join(dir, 'objects/pack'))).length}`
    await moveRefs(dir, [{ ref, before: NO_OBJECT, after: tip }])
    known = tip
    return found
  }
  return { ...work, commit, push }
}

test('pointers are found however they are packed, and only those that are new', async () => {
  await using at = await stage()
  const { commit, push } = at
  // Small files, tree deltas, and texts that merely mention pointers.
  const folder = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`lib/part${n}.ts`, `export const n${n} = 1\n`]),
  )
  expect(await push(await commit({ ...folder, 'a.txt': text(3), 'doc.md': text(500) }))).toMatchObject({
    may: false,
    oids: [],
  })
  expect(await push(await commit({ 'lib/part3.ts': 'export const n3 = 2\n', 'doc.md': text(501) }))).toMatchObject({
    may: false,
    oids: [],
  })

  expect(await push(await commit({ 'big.bin': pointer('a') }))).toMatchObject({ may: true, oids: ['a'] })
  // Deltas of the previous one, with both ways of naming the base.
  expect(
    await push(await commit({ 'big.bin': pointer('a', 8).replace(/a{60}/, (s) => 'b' + s.slice(1)) })),
  ).toMatchObject({
    may: true,
  })
  expect(await push(await commit({ 'big.bin': pointer('c', 9) }), ['--thin'])).toMatchObject({ may: true, oids: ['c'] })
  expect(await push(await commit({ one: pointer('d'), two: pointer('e'), 'x.txt': text(9) }), [])).toMatchObject({
    may: true,
    oids: ['d', 'e'],
  })
  // The old pointers still exist, and none of them is new.
  expect((await push(await commit({ 'x.txt': text(10) }))).oids).toEqual([])
  expect((await push(await commit({ 'long.txt': pointer('f') + 'x '.repeat(600) }))).oids).toEqual([])
})

test('that a commit is based on another is seen, and nothing is seen that is not so', async () => {
  await using at = await stage()
  const { commit, push, git } = at
  await push(await commit({ a: text(3) }))
  await commit({ a: text(4) })
  await commit({ a: text(5) })
  expect((await push(await commit({ b: text(5) }))).leads).toBe(true)
  await git('-C', 'src', 'checkout', '-q', '-b', 'side', 'HEAD~2')
  await commit({ c: text(5) })
  await git('-C', 'src', 'checkout', '-q', 'master')
  await git('-C', 'src', 'merge', '-q', '--no-ff', 'side')
  expect((await push((await git('-C', 'src', 'rev-parse', 'HEAD')).stdout)).leads).toBe(true)
  await git('-C', 'src', 'reset', '-q', '--hard', 'HEAD~')
  expect((await push(await commit({ d: text(5) }))).leads).toBe(false)
})

test('what is too much to peek at is not looked at', async () => {
  await using at = await stage()
  const files = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`f${n}`, `${n}`]))
  expect(await at.push(await at.commit(files))).toMatchObject({ may: null, oids: [] })
})
