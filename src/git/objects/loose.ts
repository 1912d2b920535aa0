/**
 * Objects written one by one, without a process for each: hashed, flushed to disk under another name, then given their
 * own. What is there already stays, and counts as new again for housekeeping, which spares what is young.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { hasCode, nullIfMissing } from '../../lib/system-errors.ts'
import { flushFolder } from '../storage/drafts.ts'
import type { ObjectType } from './objects.ts'

const compress = promisify(deflate)

/** The content must be what git takes for this type: nothing looks at it here. */
export async function writeObject(dir: string, type: ObjectType, content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
  const id = createHash('sha1').update(whole).digest('hex')
  const folder = join(dir, 'objects', id.slice(0, 2))
  const path = join(folder, id.slice(2))
  if (!(await renew(path))) await place(folder, path, await compress(whole))
  return id
}

/** False where there is no such file yet. */
async function renew(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function place(folder: string, path: string, content: Uint8Array): Promise<void> {
  // A prefix that git's prune knows, should we be killed here.
  const draft = join(folder, `tmp_obj_${randomUUID()}`)
  let isNew = false
  try {
    {
      await using file = await openIn(folder, draft, () => (isNew = true))
      await file.writeFile(content)
      await file.sync()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  // One that is gone again was packed meanwhile, and flushed as a pack.
  const flushed = flushFolder(folder).catch(nullIfMissing)
  await Promise.all([flushed, ...(isNew ? [flushFolder(join(folder, '..'))] : [])])
}

const MOST_TRIES = 10

/** git removes a folder whose objects it has packed, at any time: also one that was just made. */
async function openIn(folder: string, path: string, onNew: () => void): Promise<FileHandle> {
  for (let tries = 0; ; tries++) {
    try {
      return await open(path, 'wx', 0o444)
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || tries === MOST_TRIES) throw error
    }
    onNew()
    await mkdir(folder).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
  }
}
