import { spawnSync } from 'node:child_process'
import { existsSync, readlinkSync } from 'node:fs'
import { readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesOf } from '../../../test/git-builder.ts'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { noteLiving, PROCESS_TAG, TAG_PATTERN } from '../../lib/async/process-tag.ts'
import { branch, ref, UnsafeArgument, type Ref } from '../process/arguments.ts'
import { buildTree, writeCommit } from '../objects/building.ts'
import { GitFailed } from '../process/command.ts'
import { dropIfDead, takeLock } from './locks.ts'
import { writeObject } from '../objects/loose.ts'
import { createRepository, setHead } from '../storage/repositories.ts'
import { readNames, readRefs } from './ref-files.ts'
import { moveRefs, NO_OBJECT, RefInTheWay, RefMoved } from './update.ts'

async function repository() {
  const data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  const tree = await buildTree(dir, null, [])
  const by = { name: 'A', email: 'a@example.com', date: new Date(0) }
  const commit = (message: string) => writeCommit(dir, { tree, parents: [], message, author: by, committer: by })
  return {
    dir,
    one: await commit('1'),
    two: await commit('2'),
    refs: async () =>
      Object.fromEntries(
        (await runGit([`--git-dir=${dir}`, 'for-each-ref', '--format=%(refname) %(objectname)']))
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(' ')),
      ) as Record<string, string>,
    [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
  }
}

const MASTER = branch('master')

const createRef = (dir: string, name: Ref, id: string) => moveRefs(dir, [{ ref: name, before: NO_OBJECT, after: id }])

test('refs are created, moved and deleted from the value they have', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  await moveRefs(dir, [
    { ref: MASTER, before: one, after: two },
    { ref: 'refs/heads/ü', before: NO_OBJECT, after: one },
  ])
  expect(await repo.refs()).toEqual({ [MASTER]: two, 'refs/heads/ü': one })
  await moveRefs(dir, [{ ref: MASTER, before: two, after: NO_OBJECT }])
  await moveRefs(dir, [])
  expect(await repo.refs()).toEqual({ 'refs/heads/ü': one })
})

test('none moves when one is not where it was seen', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  const other = { ref: 'refs/heads/other', before: NO_OBJECT, after: one }
  const lost = [
    { ref: MASTER, before: two, after: one },
    { ref: MASTER, before: NO_OBJECT, after: two },
    { ref: MASTER, before: two, after: NO_OBJECT },
    { ref: 'refs/heads/absent', before: one, after: two },
    { ref: 'refs/heads/absent', before: one, after: NO_OBJECT },
    { ref: 'refs/heads/absent', before: NO_OBJECT, after: NO_OBJECT },
  ]
  for (const update of lost) {
    const error = await moveRefs(dir, [other, update]).catch((error: unknown) => error)
    expect(error, JSON.stringify(update)).toBeInstanceOf(RefMoved)
    expect(error).toMatchObject({ ref: update.ref })
  }
  expect(await repo.refs()).toEqual({ [MASTER]: one })
})

test('a ref that is in the way, an object that is not there or no commit, a name that is none', async () => {
  await using repo = await repository()
  const { dir, one } = repo
  await createRef(dir, branch('a/b'), one)
  await expect(createRef(dir, branch('a'), one)).rejects.toMatchObject({ name: 'RefInTheWay', ref: 'refs/heads/a' })
  await expect(createRef(dir, branch('a/b/c'), one)).rejects.toThrow(RefInTheWay)
  const both = ['refs/heads/n', 'refs/heads/n/m'].map((name) => ({ ref: name, before: NO_OBJECT, after: one }))
  await expect(moveRefs(dir, both)).rejects.toThrow(RefInTheWay)
  await expect(createRef(dir, branch('c'), '1'.repeat(40))).rejects.toThrow(GitFailed)
  await expect(createRef(dir, branch('c'), await writeObject(dir, 'blob', 'x'))).rejects.toThrow(GitFailed)
  for (const name of ['HEAD', 'refs/heads/a b', 'refs/heads/a\ncreate refs/heads/x', 'refs/../x', 'refs/heads/-x', 'x'])
    await expect(moveRefs(dir, [{ ref: name, before: NO_OBJECT, after: one }])).rejects.toThrow(UnsafeArgument)
  for (const id of ['', 'HEAD', `${one}\n`, one.slice(1), '-x'])
    await expect(createRef(dir, branch('c'), id)).rejects.toThrow(TypeError)
  expect(await repo.refs()).toEqual({ 'refs/heads/a/b': one })
})

test('of many at once exactly one creates it, and of many that move it, one', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  const race = async (before: string, after: string) => {
    const runs = Array.from({ length: 12 }, () => moveRefs(dir, [{ ref: MASTER, before, after }]))
    const ends = await Promise.allSettled(runs)
    const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
    return lost.map(({ name }) => name)
  }
  expect(await race(NO_OBJECT, one)).toEqual(Array.from({ length: 11 }, () => 'RefMoved'))
  expect(await race(one, two)).toEqual(Array.from({ length: 11 }, () => 'RefMoved'))
})

test('very many end in one flushed file', async () => {
  await using repo = await repository()
  const { dir, one } = repo
  await moveRefs(
    dir,
    Array.from({ length: 500 }, (_, n) => ({ ref: ref(`refs/heads/b${n}`), before: NO_OBJECT, after: one })),
  )
  expect((await readFile(join(dir, 'packed-refs'), 'utf8')).match(/refs\/heads\/b\d+\n/g)).toHaveLength(500)
  expect(existsSync(join(dir, 'refs/heads/b1'))).toBe(false)
})

test('one ref moves without a process, packed or not, and with its folder gone', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  await createRef(dir, branch('deep/er'), one)
  await runGit([`--git-dir=${dir}`, 'pack-refs', '--all'])
  const started = await processesOf(async () => {
    await moveRefs(dir, [{ ref: MASTER, before: one, after: two }])
    await moveRefs(dir, [{ ref: 'refs/heads/deep/er', before: one, after: two }])
    await expect(moveRefs(dir, [{ ref: MASTER, before: one, after: two }])).rejects.toThrow(RefMoved)
    await createRef(dir, branch('new/er'), one)
  })
  expect(started.filter((words) => !words.includes('cat-file'))).toEqual([])
  const refs = { [MASTER]: two, 'refs/heads/deep/er': two, 'refs/heads/new/er': one }
  expect(await repo.refs()).toEqual(refs)
  await expect(createRef(dir, branch('deep'), one)).rejects.toThrow(RefInTheWay)
  await expect(createRef(dir, branch('deep/er/x'), one)).rejects.toThrow(RefInTheWay)
  expect(await repo.refs()).toEqual(refs)
})

test('packed refs are in the way too', async () => {
  await using repo = await repository()
  const { dir, one } = repo
  await createRef(dir, branch('a/b'), one)
  await runGit([`--git-dir=${dir}`, 'pack-refs', '--all'])
  await rm(join(dir, 'refs/heads/a'), { recursive: true, force: true })
  await expect(createRef(dir, branch('a'), one)).rejects.toThrow(RefInTheWay)
  await expect(createRef(dir, branch('a/b/c'), one)).rejects.toThrow(RefInTheWay)
  expect(await repo.refs()).toEqual({ 'refs/heads/a/b': one })
})

test('who holds the lock has the say', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  const lock = join(dir, `${MASTER}.lock`)
  await writeFile(lock, '')
  let isDone = false
  const wait = moveRefs(dir, [{ ref: MASTER, before: one, after: two }]).then(() => (isDone = true))
  // Another ref moves meanwhile, in as many steps.
  await createRef(dir, branch('other'), one)
  await moveRefs(dir, [{ ref: branch('other'), before: one, after: two }])
  expect([isDone, await repo.refs()]).toEqual([false, { [MASTER]: one, [branch('other')]: two }])
  await rm(lock)
  await wait
  expect(await repo.refs()).toEqual({ [MASTER]: two, [branch('other')]: two })
  expect(existsSync(lock)).toBe(false)
})

test('while git packs and deletes, no move is lost', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  let isOver = false
  const packing = (async () => {
    while (!isOver) await runGit([`--git-dir=${dir}`, 'pack-refs', '--all'])
  })()
  for (let n = 0; n < 40; n++) {
    const [before, after] = n % 2 === 0 ? [one, two] : [two, one]
    await moveRefs(dir, [{ ref: MASTER, before, after }])
    expect((await repo.refs())[MASTER]).toBe(after)
  }
  isOver = true
  await packing
})

/** A process that is killed while it has a lock. */
function dieHolding(lock: string): void {
  const locks = new URL('./locks.ts', import.meta.url).href
  const script = `const { takeLock } = await import('${locks}'); await takeLock(process.argv[1]); process.kill(process.pid, 9)`
  spawnSync(process.execPath, ['--input-type=module', '-e', script, lock])
}

test("a lock outlives its holder, but is in nobody else's way", async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  const lock = join(dir, `${MASTER}.lock`)
  dieHolding(lock)
  expect(readlinkSync(lock)).toMatch(TAG_PATTERN)
  // While one process removes the lock, no other does.
  await writeFile(`${lock}.lock`, '')
  expect([dropIfDead(lock), readlinkSync(lock)]).toEqual([false, expect.stringMatching(TAG_PATTERN)])
  await rm(`${lock}.lock`)
  await moveRefs(dir, [{ ref: MASTER, before: one, after: two }])

  // Locks of git name no owner, but no owner lives that long.
  const longAgo = new Date(Date.now() - 20 * 60_000)
  for (const name of [lock, join(dir, 'HEAD.lock'), join(dir, 'HEAD.lock.lock')]) {
    await writeFile(name, '')
    await utimes(name, longAgo, longAgo)
  }
  await moveRefs(dir, [{ ref: MASTER, before: two, after: one }])
  await setHead(dir, 'other')
  expect(await repo.refs()).toEqual({ [MASTER]: one })
  expect((await readdir(dir, { recursive: true })).filter((name) => /lock|tmp_/.test(name))).toEqual([])
})

test('a lock whose holder lives, here or elsewhere, is waited for and heeded', async () => {
  await using repo = await repository()
  const { dir, one } = repo
  const lock = join(dir, `${MASTER}.lock`)
  await takeLock(lock)
  const moving = moveRefs(dir, [{ ref: MASTER, before: NO_OBJECT, after: one }])
  await rm(lock)
  await moving
  await symlink(ELSEWHERE, lock)
  expect([dropIfDead(lock), existsSync(join(dir, MASTER))]).toEqual([false, true])
})

const ELSEWHERE = '00000000_1_1'

test('the lock of a process elsewhere is dead once the store knows the process no more', async () => {
  await using repo = await repository()
  const { dir, one, two } = repo
  await createRef(dir, MASTER, one)
  const lock = join(dir, `${MASTER}.lock`)
  await symlink(ELSEWHERE, lock)
  noteLiving([`${ELSEWHERE}_aaaaaaaa`])
  expect(dropIfDead(lock)).toBe(false)
  noteLiving([])
  await moveRefs(dir, [{ ref: MASTER, before: one, after: two }])
  expect(await repo.refs()).toEqual({ [MASTER]: two })
})

test('a lock of git is dead when no process that lives has git write there', async () => {
  await using repo = await repository()
  const { dir } = repo
  const lock = join(dir, 'HEAD.lock')
  const longAgo = new Date(Date.now() - 10_000)
  const leave = async () => {
    await writeFile(lock, '')
    await utimes(lock, longAgo, longAgo)
  }
  await leave()
  const writer = join(dir, `tmp_writer_${PROCESS_TAG}_1`)
  await writeFile(writer, '')
  await expect(setHead(dir, 'other')).rejects.toThrow('File exists')
  await rm(writer)
  // The process has ended.
  await writeFile(join(dir, `tmp_writer_${PROCESS_TAG.replace(/_\d+_/, '_99999999_')}_1`), '')
  await setHead(dir, 'other')
  expect((await readdir(dir)).filter((name) => /lock|tmp_/.test(name))).toEqual([])
})

test('a ref moves while git packs it away, folder and all', async () => {
  await using repo = await repository()
  const { dir, one } = repo
  let isOver = false
  const pack = async () => {
    while (!isOver) await runGit([`--git-dir=${dir}`, 'pack-refs', '--all', '--prune'])
  }
  const names = Array.from({ length: 150 }, (_, n) => `refs/merge-requests/${n + 1}/head` as Ref)
  const packing = [pack(), pack()]
  try {
    for (const [n, name] of names.entries()) {
      await createRef(dir, name, one)
      await createRef(dir, `refs/heads/of/${n}/it` as Ref, one)
      // A concurrent reader finds all of them.
      expect(await readRefs(dir)).toHaveLength(2 * (n + 1))
      expect(await readNames(dir, 'refs/heads')).toHaveLength(n + 1)
    }
  } finally {
    isOver = true
    await Promise.allSettled(packing)
  }
  expect(Object.keys(await repo.refs())).toEqual(expect.arrayContaining(names))
})
