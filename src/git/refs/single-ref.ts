/**
 * Moves one ref without a process, by git's own rules: the owner of `<ref>.lock` may write the ref, and a rename
 * replaces the whole file. Every unusual case is left to git.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import type { Ref } from '../process/arguments.ts'
import { flushFolder } from '../storage/drafts.ts'
import { dropIfDead, giveLockBack, takeLock } from './locks.ts'
import { readPacked, readRef } from './ref-files.ts'

/** `unusual`: nothing was done, and git must do it. */
export type Outcome = 'moved' | 'was elsewhere' | 'unusual'

export interface RefMove {
  readonly name: Ref
  /** Null if the ref is to be created. */
  readonly before: string | null
  readonly after: string
}

/** `isFit` checks, once the value is certain, whether the ref may point there. */
export async function moveOne(
  dir: string,
  { name, before, after }: RefMove,
  isFit: Promise<boolean>,
): Promise<Outcome> {
  const file = join(dir, name)
  // Flushed before the ref is locked, so that no process waits for the disk.
  const draft = join(dir, `tmp_ref_${randomUUID()}`)
  const drafted = writeFile(draft, `${after}\n`, { flag: 'wx', flush: true })
  let outcome: Outcome = 'unusual'
  try {
    const [fit] = await bothOf(isFit, drafted)
    if (!fit || !(await waitForLock(`${file}.lock`))) return outcome
    outcome = await moveLocked(dir, name, before, draft, performance.now())
    // After the lock is released, git may pack the ref and delete its folder. Git flushes what it packs.
    if (outcome === 'moved') await flushFolder(dirname(file)).catch(nullIfMissing)
    return outcome
  } finally {
    if (outcome !== 'moved') await rm(draft, { force: true })
  }
}

/** Resolves when both have settled, even if one fails. */
async function bothOf<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return [await a, await b]
}

/** Releases the lock in any case. */
async function moveLocked(
  dir: string,
  name: Ref,
  before: string | null,
  draft: string,
  began: number,
): Promise<Outcome> {
  try {
    const present = await readRef(dir, name)
    if (present === undefined || (present === null && (await isInTheWay(dir, name)))) return 'unusual'
    if (present !== before) return 'was elsewhere'
    // Other processes may have taken this process for dead and removed the lock.
    if (performance.now() - began > HELD_MS) return 'unusual'
    await rename(draft, join(dir, name))
    return 'moved'
  } catch (error) {
    // A folder has this name. Git treats an empty folder as missing.
    if (hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return 'unusual'
    throw error
  } finally {
    await giveLockBack(join(dir, `${name}.lock`))
  }
}

const PATIENCE_MS = 2000
const PAUSE_MS = 5
/** Shorter than the silence after which a process counts as dead. */
const HELD_MS = 4000

/**
 * False if another process has the lock for too long, if a ref is where the folder should be, or if the file system has
 * no links.
 */
async function waitForLock(lock: string): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  while (performance.now() < end) {
    try {
      await takeLock(lock)
      return true
    } catch (error) {
      if (hasCode(error, 'ENOTDIR', 'EPERM', 'ENOTSUP', 'ENOSYS')) return false
      // Git deletes the folder of its last ref at any time.
      if (hasCode(error, 'ENOENT')) await makeFolder(dirname(lock))
      else if (!hasCode(error, 'EEXIST')) throw error
      else if (!dropIfDead(lock)) await wait(PAUSE_MS)
    }
  }
  return false
}

async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true })
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'EEXIST', 'ENOENT')) throw error
  }
}

/** `a` and `a/b` cannot both exist. Loose refs conflict in the file system anyway. */
async function isInTheWay(dir: string, name: string): Promise<boolean> {
  const packed = await readPacked(dir)
  return !packed || packed.some((other) => `${other.name}/`.startsWith(`${name}/`) || name.startsWith(`${other.name}/`))
}
