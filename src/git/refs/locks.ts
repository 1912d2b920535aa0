/**
 * Locks on refs: the process that created `<ref>.lock` may write the ref. The locks of this server are dangling
 * symbolic links that name their owner, so that the lock of a killed process is recognized; git accepts any lock file.
 * Locks of git name no owner. So a process that lets git write refs puts a file with its name next to them. A lock of
 * git is stale if no such process lives, or if it is older than any owner can be.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { MINUTE } from '../../clock.ts'
import { hasMemberEnded, PROCESS_TAG, TAG_PATTERN } from '../../lib/async/process-tag.ts'
import { GitFailed } from '../process/command.ts'
import { filesBelow } from './ref-files.ts'

/** Fails like creating any file: with EEXIST if another process has the lock. */
export const takeLock = (lock: string): Promise<void> => symlink(PROCESS_TAG, lock)

/** Unless another process has removed the lock, and it has a new owner by now. */
export async function giveLockBack(lock: string): Promise<void> {
  if ((await readlink(lock).catch(() => null)) === PROCESS_TAG) await rm(lock, { force: true })
}

/**
 * Removes the lock of a dead process. False if the lock is not stale. A lock on the lock serializes this, so that a
 * process that saw a stale lock never removes its successor.
 */
export function dropIfDead(lock: string, before = staleBefore(), ofGitBefore = before): boolean {
  try {
    if (!isOver(lock, before, ofGitBefore)) return false
    using _guard = guardOf(lock)
    if (!isOver(lock, before, ofGitBefore)) return false
    rmSync(lock)
    return true
  } catch {
    // The lock is gone, is being removed, or is a recent lock of git.
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
/** The git process of a killed server process ends by itself and removes its locks. */
const ORPHAN_MS = 5_000

const staleBefore = () => new Date(Date.now() - STALE_MS)

/** Runs git, and again without stale locks if they are in its way. */
export async function despiteDeadLocks<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await announced(dir, work)
  } catch (error) {
    if (!isLockedOut(error) || (await removeLocks(dir, staleBefore())).length === 0) throw error
    return announced(dir, work)
  }
}

const WRITER = 'tmp_writer_'

/** Shows other processes that a live process lets git write refs here. */
async function announced<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const file = join(dir, `${WRITER}${PROCESS_TAG}_${randomUUID()}`)
  await writeFile(file, '', { flag: 'wx' })
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

/** Whether a process named by a file is alive. Deletes the files of dead processes. */
async function hasWriters(dir: string, names: readonly string[]): Promise<boolean> {
  const writers = names.filter((name) => name.startsWith(WRITER))
  const dead = writers.filter((name) => isDead(TAG_PATTERN.exec(name)?.[0] ?? ''))
  for (const name of dead) await rm(join(dir, name), { force: true })
  return dead.length < writers.length
}

const isLockedOut = (error: unknown) => error instanceof GitFailed && /\.lock': File exists/.test(error.stderr)

/** Removes locks created before that time, and locks of dead processes. Returns their paths in the repository. */
export async function removeLocks(dir: string, before: Date): Promise<string[]> {
  const names = await readdir(dir)
  const locks = await locksIn(dir, names)
  const ofGitBefore = (await hasWriters(dir, names)) ? before : new Date(Date.now() - ORPHAN_MS)
  // Removes the lock on a lock before the lock.
  const inOrder = locks.toSorted((a, b) => b.length - a.length)
  return inOrder.filter((name) => dropIfDead(join(dir, name), before, ofGitBefore))
}

/** Locks created before that time, so that no process can still own them. */
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
