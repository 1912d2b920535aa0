/**
 * Repositories appear and disappear as a whole: each is filled under a temporary name next to its final path and then
 * renamed. Before its deletion it is renamed again. A killed process leaves a folder that `isLeftover` recognizes.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from '../../lib/files/system-errors.ts'

const temporaryName = (dir: string, state: 'new' | 'gone') => `${dir}.${randomUUID()}.${state}`

/** By the name of a folder: a repository that is unfinished, or not completely deleted. */
export const isLeftover = (name: string): boolean =>
  /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(new|gone)$/.test(name)

/** False if the path was taken meanwhile; the existing repository stays. */
export async function publishWhole(dir: string, fill: (draft: string) => Promise<void>): Promise<boolean> {
  const draft = temporaryName(dir, 'new')
  await mkdir(draft, { recursive: true })
  try {
    await fill(draft)
    await flushFolder(draft)
    await rename(draft, dir)
    await flushFolder(dirname(dir))
    return true
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (isTaken(error)) return false
    throw error
  }
}

export async function removeWhole(dir: string): Promise<void> {
  const gone = temporaryName(dir, 'gone')
  try {
    await rename(dir, gone)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  await rm(gone, { recursive: true, force: true })
}

const isTaken = (error: unknown) =>
  hasCode(error, 'ENOTEMPTY', 'EEXIST') && (error as NodeJS.ErrnoException).syscall === 'rename'

/** Makes data that another process wrote to the file survive a power cut. */
export async function flushFile(path: string): Promise<void> {
  await using file = await open(path, process.platform === 'win32' ? 'r+' : 'r')
  await file.sync()
}

/** A new name survives a power cut once its folder is flushed. Windows cannot open folders. */
export async function flushFolder(dir: string): Promise<void> {
  if (process.platform !== 'win32') await flushFile(dir)
}
