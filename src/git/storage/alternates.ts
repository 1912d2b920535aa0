/**
 * Repositories that use the objects of another, by `objects/info/alternates`. The other's place is written as the way
 * from here to there, so that both may move together; git follows it into quarantines as well.
 */
import { randomUUID } from 'node:crypto'
import { link, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { flushFolder } from './drafts.ts'
import { indexLast } from '../objects/pack-index.ts'
import { closeReaders } from '../process/readers.ts'

const fileOf = (dir: string) => join(dir, 'objects/info/alternates')

/** The repository whose objects this one uses beside its own; null of one that stands alone. */
export async function poolOf(dir: string): Promise<string | null> {
  const text = await readFile(fileOf(dir), 'utf8').catch(nullIfMissing)
  const [way] = text?.split('\n') ?? []
  return way ? dirname(resolve(dir, 'objects', way)) : null
}

/** From now on what the pool has need not be here; what is here stays until housekeeping drops it. */
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
  // They know only the objects they began with.
  closeReaders(dir)
}

/** The pool's is the one to use: of any other, git warns whoever fetches, and names its place on our disk. */
async function dropBitmaps(dir: string): Promise<void> {
  const packs = join(dir, 'objects/pack')
  for (const name of await readdir(packs)) if (name.endsWith('.bitmap')) await rm(join(packs, name), { force: true })
}

/**
 * Takes all the pool has home, under names of its own for the same files, and needs it no more. False where the file
 * system gives a file no second name, or the pool was being packed anew: nothing has changed then.
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

/** Every pack of one repository, in another too: the very same files. */
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

/** A pack is named by its content: one that is here already is the same. */
function fineIfThere(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error
}

const isPackFile = (name: string) => /^pack-[0-9a-f]{40}\.(pack|idx|rev|bitmap|mtimes)$/.test(name)
