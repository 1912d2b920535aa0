/**
 * Objects written one by one, without a process for each: hashed, flushed to disk under another name, then given their
 * own. What is there already stays, and counts as new again for housekeeping, which spares what is young.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { flushFolder } from './drafts.ts'
import type { ObjectType } from './objects.ts'

const compress = promisify(deflate)

/** The content must be what git takes for this type: nothing looks at it here. */
export async function writeObject(dir: string, type: ObjectType, content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
  const id = createHash('sha1').update(whole).digest('hex')
  const folder = join(dir, 'objects', id.slice(0, 2))
  const path = join(folder, id.slice(2))
  if (!(await isRenewed(path))) await place(folder, path, await compress(whole))
  return id
}

async function isRenewed(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function place(folder: string, path: string, content: Uint8Array): Promise<void> {
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined
  // A prefix that git's prune knows, should we be killed here.
  const draft = join(folder, `tmp_obj_${randomUUID()}`)
  try {
    {
      await using file = await open(draft, 'wx', 0o444)
      await file.writeFile(content)
      await file.sync()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await Promise.all([flushFolder(folder), ...(isNew ? [flushFolder(join(folder, '..'))] : [])])
}
