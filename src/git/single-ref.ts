/**
 * One ref, moved without a process, by the rules git itself goes by: whoever holds `<ref>.lock` may write the ref, and
 * what is written replaces the file whole. Anything but the plain case is left to git.
 */
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Ref } from './arguments.ts'
import { flushFolder } from './drafts.ts'
import { objectInfo } from './objects.ts'
import { readPacked, readRef } from './ref-files.ts'

/** `unusual`: nothing was done, git is to do it. */
export type Outcome = 'moved' | 'was elsewhere' | 'unusual'

/** `before` is null where the ref is to be created. */
export async function moveOne(dir: string, name: Ref, before: string | null, after: string): Promise<Outcome> {
  const object = await objectInfo(dir, after)
  const isFit = object?.id === after && (object.type === 'commit' || !name.startsWith('refs/heads/'))
  const file = join(dir, name)
  const lock = isFit ? await takeLock(`${file}.lock`) : null
  if (!lock) return 'unusual'
  const giveBack = async (outcome: Outcome) => {
    await rm(`${file}.lock`, { force: true })
    return outcome
  }
  try {
    const present = await readRef(dir, name)
    if (present === undefined || (present === null && (await isInTheWay(dir, name)))) return await giveBack('unusual')
    if (present !== before) return await giveBack('was elsewhere')
    await lock.writeFile(`${after}\n`)
    await lock.sync()
    await rename(`${file}.lock`, file)
  } catch (error) {
    await giveBack('unusual')
    // A folder of its name: to git, an empty one is none.
    if (hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return 'unusual'
    throw error
  } finally {
    await lock.close()
  }
  await flushFolder(dirname(file))
  return 'moved'
}

const PATIENCE_MS = 2000
const PAUSE_MS = 5

/** Null when others hold it for too long, or a ref stands where its folder should. */
async function takeLock(file: string): Promise<FileHandle | null> {
  const end = performance.now() + PATIENCE_MS
  while (performance.now() < end) {
    try {
      return await open(file, 'wx')
    } catch (error) {
      if (hasCode(error, 'ENOTDIR')) return null
      // git removes the folder of the last ref in it, at any time.
      if (hasCode(error, 'ENOENT')) await makeFolder(dirname(file))
      else if (hasCode(error, 'EEXIST')) await wait(PAUSE_MS)
      else throw error
    }
  }
  return null
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

const hasCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '')
