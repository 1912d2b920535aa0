/**
 * Locks on refs: whoever made `<ref>.lock` may write the ref. Ours are links that lead nowhere but name their holder, so
 * that the lock of a process that was killed is known for what it is; to git a lock is a lock. One that names nobody is
 * dead when it is older than any holder can get.
 */
import { lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, relative } from 'node:path'
import { MINUTE } from '../../clock.ts'
import { GitFailed } from '../process/command.ts'
import { filesBelow } from './ref-files.ts'

/** Fails as making any file would: with EEXIST where somebody holds it. */
export const takeLock = (lock: string): Promise<void> => symlink(SELF, lock)

/**
 * Takes away the lock of a process that is no more; false where it is not such a lock. One at a time, by a lock on the
 * lock: who looked at a dead one must not take away the next.
 */
export function dropIfDead(lock: string, before = staleBefore()): boolean {
  try {
    if (!isOver(lock, before)) return false
    using _guard = guardOf(lock)
    if (!isOver(lock, before)) return false
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

const isOver = (lock: string, before: Date) => lstatSync(lock).mtime < before || isDead(readlinkSync(lock))

/** Of holders elsewhere nobody here can tell. */
function isDead(holder: string): boolean {
  const [place, pid] = holder.split(' ')
  return place === SELF.split(' ', 1)[0] && holder !== nameOf(Number(pid))
}

/** A machine and its numbering of processes, the number, and when it started: numbers are used again. */
function nameOf(pid: number): string {
  const numbering = attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '?'
  const start = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[19]) ?? '?'
  return `${hostname()}/${numbering} ${pid} ${start}`
}

const SELF = nameOf(process.pid)

function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Longer than moving any number of refs may take. */
const STALE_MS = 15 * MINUTE

const staleBefore = () => new Date(Date.now() - STALE_MS)

/** Runs git; should locks of the dead be in its way, without them once more. */
export async function despiteDeadLocks<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isLockedOut(error) || (await removeLocks(dir, staleBefore())) === 0) throw error
    return work()
  }
}

const isLockedOut = (error: unknown) => error instanceof GitFailed && /\.lock': File exists/.test(error.stderr)

/** Those made before, and those of the dead; answers how many there were. */
export async function removeLocks(dir: string, before: Date): Promise<number> {
  const inRefs = (await filesBelow(join(dir, 'refs'))).map((file) => relative(dir, join(file.parentPath, file.name)))
  const locks = [...(await readdir(dir)), ...inRefs].filter((name) => name.endsWith('.lock'))
  // The lock on a lock before the lock.
  const inOrder = locks.toSorted((a, b) => b.length - a.length)
  return inOrder.filter((name) => dropIfDead(join(dir, name), before)).length
}
