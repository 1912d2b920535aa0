/**
 * Repositories that use the objects of another through `objects/info/alternates`. The path is relative, so that both
 * may move together; git also follows it in quarantines.
 */
import { randomUUID } from 'node:crypto'
import { link, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { flushFolder } from './drafts.ts'
import { indexLast } from '../objects/pack-index.ts'
import { closeReaders } from '../process/readers.ts'

const fileOf = (dir: string) => join(dir, 'objects/info/alternates')

/** The repository whose objects this one uses besides its own. Null without one. */
export async function poolOf(dir: string): Promise<string | null> {
  const text = await readFile(fileOf(dir), 'utf8').catch(nullIfMissing)
  const [way] = text?.split('\n') ?? []
  return way ? dirname(resolve(dir, 'objects', way)) : null
}

/**
 * From now on, objects of the pool need not be in this repository. Existing objects stay until housekeeping removes
 * them.
 */
export async function useObjectsOf(dir: string, pool: string): Promise<void> {
  const path = fileOf(dir)
  const draft = `${path}.${randomUUID()}`
  {
    await using file = await open(draft, 'wx')
    await file.writeFile(`${relative(join(dir, 'objects'), join(pool, 'objects'))}\n`)
    await file.sync()
  }
  await rename(draft, path)
  await flushFolder(dirname(path))
  await dropBitmaps(dir)
  // Open readers know only the objects that existed at their start.
  closeReaders(dir)
}

/** Only the bitmap of the pool may exist: for another one, git warns the fetching client and names its local path. */
async function dropBitmaps(dir: string): Promise<void> {
  const packs = join(dir, 'objects/pack')
  for (const name of await readdir(packs)) if (name.endsWith('.bitmap')) await rm(join(packs, name), { force: true })
}

/**
 * Hard-links all packs of the pool into this repository, which then no longer needs the pool. False if the file system
 * does not support hard links, or the pool was being repacked: nothing has changed then.
 */
export async function standAlone(dir: string): Promise<boolean> {
  const pool = await poolOf(dir)
  if (pool === null) return true
  if (!(await linkPacks(pool, dir))) return false
  await rm(fileOf(dir), { force: true })
  await flushFolder(dirname(fileOf(dir)))
  closeReaders(dir)
  return true
}

/** Hard-links every pack of one repository into another. */
export async function linkPacks(from: string, to: string): Promise<boolean> {
  const [source, target] = [join(from, 'objects/pack'), join(to, 'objects/pack')]
  try {
    for (const name of indexLast((await readdir(source)).filter(isPackFile)))
      await link(join(source, name), join(target, name)).catch(fineIfThere)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return false
  }
  await flushFolder(target)
  return true
}

/** The name of a pack identifies its content, so an existing pack is the same. */
function fineIfThere(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error
}

const isPackFile = (name: string) => /^pack-[0-9a-f]{40}\.(pack|idx|rev|bitmap|mtimes)$/.test(name)
