/**
 * One ref, moved without a process, by the rules git itself goes by: whoever holds `<ref>.lock` may write the ref, and
 * what is written replaces the file whole. Anything but the plain case is left to git.
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

/** `unusual`: nothing was done, git is to do it. */
export type Outcome = 'moved' | 'was elsewhere' | 'unusual'

export interface RefMove {
  readonly name: Ref
  /** Null where the ref is to be created. */
  readonly before: string | null
  readonly after: string
}

/** `isFit` tells, once it is certain, whether the ref may point there. */
export async function moveOne(
  dir: string,
  { name, before, after }: RefMove,
  isFit: Promise<boolean>,
): Promise<Outcome> {
  const file = join(dir, name)
  // Flushed before the ref is locked: nobody waits for a disk.
  const draft = join(dir, `tmp_ref_${randomUUID()}`)
  const drafted = writeFile(draft, `${after}\n`, { flag: 'wx', flush: true })
  let outcome: Outcome = 'unusual'
  try {
    const [fit] = await bothOf(isFit, drafted)
    if (!fit || !(await waitForLock(`${file}.lock`))) return outcome
    outcome = await moveLocked(dir, name, before, draft, performance.now())
    // Once the lock is given back, git may pack the ref and remove its folder; what it packs it flushes.
    if (outcome === 'moved') await flushFolder(dirname(file)).catch(nullIfMissing)
    return outcome
  } finally {
    if (outcome !== 'moved') await rm(draft, { force: true })
  }
}

/** Neither goes on when this is over. */
async function bothOf<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return [await a, await b]
}

/** Gives the lock back, whatever happens. */
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
    // Others may have taken this process for dead, and the lock away.
    if (performance.now() - began > HELD_MS) return 'unusual'
    await rename(draft, join(dir, name))
    return 'moved'
  } catch (error) {
    // A folder of its name: to git, an empty one is none.
    if (hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return 'unusual'
    throw error
  } finally {
    await giveLockBack(join(dir, `${name}.lock`))
  }
}

const PATIENCE_MS = 2000
const PAUSE_MS = 5
/** Shorter than a process must be silent to count as dead. */
const HELD_MS = 4000

/** False when others hold it for too long, a ref stands where its folder should, or there are no links here. */
async function waitForLock(lock: string): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  while (performance.now() < end) {
    try {
      await takeLock(lock)
      return true
    } catch (error) {
      if (hasCode(error, 'ENOTDIR', 'EPERM', 'ENOTSUP', 'ENOSYS')) return false
      // git removes the folder of the last ref in it, at any time.
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

/** `a` and `a/b` cannot both be. Those in files of their own are in the way by themselves. */
async function isInTheWay(dir: string, name: string): Promise<boolean> {
  const packed = await readPacked(dir)
  return !packed || packed.some((other) => `${other.name}/`.startsWith(`${name}/`) || name.startsWith(`${other.name}/`))
}
