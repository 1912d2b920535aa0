/** Files of the product (avatars, uploads, artifacts), kept by the digest of their content. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Blob {
  readonly digest: string
  readonly size: number
}

export interface Blobs {
  put(content: Readable | Uint8Array): Promise<Blob>
  /** Null when there is no such blob. */
  open(digest: string): Promise<{ size: number; stream: Readable } | null>
  remove(digest: string): Promise<void>
}

const DIGEST = /^[0-9a-f]{64}$/

export function folderBlobs(root: string): Blobs {
  const pathOf = (digest: string) => {
    if (!DIGEST.test(digest)) throw new Error('not a digest')
    return join(root, digest.slice(0, 2), digest.slice(2))
  }
  return {
    async put(content) {
      const draft = join(root, 'drafts', randomUUID())
      await mkdir(dirname(draft), { recursive: true })
      const hash = createHash('sha256')
      let size = 0
      const measure = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk)
          size += chunk.length
          done(null, chunk)
        },
      })
      try {
        await pipeline(
          content instanceof Readable ? content : Readable.from([content]),
          measure,
          createWriteStream(draft),
        )
        await flush(draft)
        const digest = hash.digest('hex')
        await mkdir(dirname(pathOf(digest)), { recursive: true })
        await rename(draft, pathOf(digest))
        return { digest, size }
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
    async open(digest) {
      const path = pathOf(digest)
      const found = await stat(path).catch(() => null)
      return found && { size: found.size, stream: createReadStream(path) }
    },
    async remove(digest) {
      await rm(pathOf(digest), { force: true })
    },
  }
}

async function flush(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}
