/**
 * Locks on refs: whoever made `<ref>.lock` may write the ref. Ours are links that lead nowhere but name their holder, so
 * that the lock of a process that was killed is known for what it is; to git a lock is a lock. Those that git makes name
 * nobody, so a process that has git write refs leaves a file with its name beside them. A lock of git is dead when no
 * such process lives, or when it is older than any holder can get.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { MINUTE } from '../../clock.ts'
import { hasMemberEnded, PROCESS_TAG, TAG_PATTERN } from '../../lib/async/process-tag.ts'
import { GitFailed } from '../process/command.ts'
import { filesBelow } from './ref-files.ts'

/** Fails as making any file would: with EEXIST where somebody holds it. */
export const takeLock = (lock: string): Promise<void> => symlink(PROCESS_TAG, lock)

/** Unless others have taken it away, and it is somebody else's by now. */
export async function giveLockBack(lock: string): Promise<void> {
  if ((await readlink(lock).catch(() => null)) === PROCESS_TAG) await rm(lock, { force: true })
}

/**
 * Takes away the lock of a process that is no more; false where it is not such a lock. One at a time, by a lock on the
 * lock: who looked at a dead one must not take away the next.
 */
export function dropIfDead(lock: string, before = staleBefore(), ofGitBefore = before): boolean {
  try {
    if (!isOver(lock, before, ofGitBefore)) return false
    using _guard = guardOf(lock)
    if (!isOver(lock, before, ofGitBefore)) return false
    rmSync(lock)
    return true
  } catch {
    // It is gone, being taken away, or young and git's own.
    return false
  }
}

function guardOf(lock: string): Disposable {
  const guard = `${lock}.lock`
  writeFileSync(guard, '', { flag: 'wx' })
  return { [Symbol.dispose]: () => rmSync(guard, { force: true }) }
}

function isOver(lock: string, before: Date, ofGitBefore: Date): boolean {
  const file = lstatSync(lock)
  if (file.mtime < before) return true
  return file.isSymbolicLink() ? isDead(readlinkSync(lock)) : file.mtime < ofGitBefore
}

const isDead = (holder: string) => TAG_PATTERN.test(holder) && hasMemberEnded(holder)

/** Longer than moving any number of refs may take. */
const STALE_MS = 15 * MINUTE
/** The git of a process that was killed ends by itself, and takes its locks along. */
const ORPHAN_MS = 5_000

const staleBefore = () => new Date(Date.now() - STALE_MS)

/** Runs git; should locks of the dead be in its way, without them once more. */
export async function despiteDeadLocks<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await announced(dir, work)
  } catch (error) {
    if (!isLockedOut(error) || (await removeLocks(dir, staleBefore())).length === 0) throw error
    return announced(dir, work)
  }
}

const WRITER = 'tmp_writer_'

/** Others see that a process which lives has git write refs here. */
async function announced<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const file = join(dir, `${WRITER}${PROCESS_TAG}_${randomUUID()}`)
  await writeFile(file, '', { flag: 'wx' })
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

/** Those who are named by a file. The files of the dead go. */
async function hasWriters(dir: string, names: readonly string[]): Promise<boolean> {
  const writers = names.filter((name) => name.startsWith(WRITER))
  const dead = writers.filter((name) => isDead(TAG_PATTERN.exec(name)?.[0] ?? ''))
  for (const name of dead) await rm(join(dir, name), { force: true })
  return dead.length < writers.length
}

const isLockedOut = (error: unknown) => error instanceof GitFailed && /\.lock': File exists/.test(error.stderr)

/** Those made before, and those of the dead; answers their paths below the repository. */
export async function removeLocks(dir: string, before: Date): Promise<string[]> {
  const names = await readdir(dir)
  const locks = await locksIn(dir, names)
  const ofGitBefore = (await hasWriters(dir, names)) ? before : new Date(Date.now() - ORPHAN_MS)
  // The lock on a lock before the lock.
  const inOrder = locks.toSorted((a, b) => b.length - a.length)
  return inOrder.filter((name) => dropIfDead(join(dir, name), before, ofGitBefore))
}

/** Those that nobody can hold any more, for they were made before. */
export async function findLocks(dir: string, before: Date): Promise<string[]> {
  const found: string[] = []
  for (const name of await locksIn(dir, await readdir(dir))) {
    const lock = await lstat(join(dir, name)).catch(() => null)
    if (lock && lock.mtime < before) found.push(name)
  }
  return found
}

async function locksIn(dir: string, names: readonly string[]): Promise<string[]> {
  const inRefs = (await filesBelow(join(dir, 'refs'))).map((file) => relative(dir, join(file.parentPath, file.name)))
  return [...names, ...inRefs].filter((name) => name.endsWith('.lock'))
}
