/**
 * Writes loose objects without a process: hashes them, flushes them under a temporary name, then renames them. An
 * existing object stays, and gets a new modification time, because housekeeping spares recent objects.
 */
import { hash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, utimes, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { batchesOf } from '../../lib/async/batches.ts'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { flushFolder } from '../storage/drafts.ts'
import type { ObjectType } from './objects.ts'

const compress = promisify(deflate)

interface Waiting {
  readonly folder: string
  readonly path: string
  readonly whole: Buffer
}

interface Draft extends Waiting {
  readonly draft: string
  /** Whether the folder is new. */
  readonly isFirst: boolean
}

/**
 * Objects that are written together. Their ids are known at once, and they are on disk when `write` resolves.
 * Concurrent flushes are shared.
 */
export class LooseObjects {
  readonly dir: string
  readonly #waiting = new Map<string, Waiting>()

  constructor(dir: string) {
    this.dir = dir
  }

  /** The content must be valid for its type, and may reference only objects that exist or were added before. */
  add(type: ObjectType, content: string | Uint8Array): string {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
    const id = hash('sha1', whole)
    const folder = join(this.dir, 'objects', id.slice(0, 2))
    if (!this.#waiting.has(id)) this.#waiting.set(id, { folder, path: join(folder, id.slice(2)), whole })
    return id
  }

  async write(): Promise<void> {
    const drafts: Draft[] = []
    try {
      for (const some of batchesOf([...this.#waiting.values()], AT_ONCE)) {
        const written = await Promise.allSettled(some.map(writeDraft))
        drafts.push(...written.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : [])))
        for (const one of written) if (one.status === 'rejected') throw one.reason
      }
      // In order, so that every visible object has all objects that it references.
      for (const { draft, path } of drafts) await rename(draft, path)
    } catch (error) {
      await Promise.all(drafts.map(({ draft }) => rm(draft, { force: true })))
      throw error
    }
    const changed = drafts.flatMap(({ folder, isFirst }) => (isFirst ? [folder, dirname(folder)] : [folder]))
    // A folder that has disappeared was emptied by git, which has packed and flushed its objects.
    const flush = (folder: string) => flushFolder(folder).catch(nullIfMissing)
    for (const some of batchesOf([...new Set(changed)], AT_ONCE)) await Promise.all(some.map(flush))
  }
}

const AT_ONCE = 16

export async function writeObject(dir: string, type: ObjectType, content: string | Uint8Array): Promise<string> {
  const objects = new LooseObjects(dir)
  const id = objects.add(type, content)
  await objects.write()
  return id
}

/** Null if the object exists already. */
async function writeDraft(waiting: Waiting): Promise<Draft | null> {
  const { folder, path, whole } = waiting
  if (await renew(path)) return null
  const content = await compress(whole)
  // Git's prune knows this prefix, in case this process is killed here.
  const draft = join(folder, `tmp_obj_${randomUUID()}`)
  let isFirst = false
  await using file = await openIn(folder, draft, () => (isFirst = true))
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return { ...waiting, draft, isFirst }
}

/** False if the file does not exist yet. */
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

const MOST_TRIES = 10

/** Git deletes folders whose objects it has packed at any time, even a new one. */
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
