/** Shared by all kinds of blob store: the path of a digest, the handling of ranges and of incoming content. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Refusal } from '../../errors.ts'
import type { Blob, Range } from './blobs.ts'

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** The same path in a folder and in a bucket, so that one can be copied to the other. */
export function blobPath(digest: string): string {
  if (!isDigest(digest)) throw new Error('not a digest')
  return `${digest.slice(0, 2)}/${digest.slice(2)}`
}

export function checkRange({ start, end = start }: Range): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new Error('not a range')
}

/**
 * Content that was received completely but is not stored yet: a temporary file that is deleted at the end of the scope,
 * unless it was moved.
 */
export interface Draft extends Blob, AsyncDisposable {
  readonly path: string
}

export async function receive(content: Readable | Uint8Array, folder: string, limit = Infinity): Promise<Draft> {
  const source = content instanceof Readable ? content : Readable.from([content])
  // The loop below gets errors too, but an error before or after the loop would end the process.
  source.on('error', () => {})
  await mkdir(folder, { recursive: true })
  const path = join(folder, randomUUID())
  const discard = () => rm(path, { force: true })
  try {
    return { ...(await write(source, path, limit)), path, [Symbol.asyncDispose]: discard }
  } catch (error) {
    await discard()
    throw error
  }
}

async function write(source: Readable, path: string, limit: number): Promise<Blob> {
  const hash = createHash('sha256')
  let size = 0
  await using file = await open(path, 'wx')
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > limit) throw new Refusal('too_large')
    hash.update(chunk)
    await file.writeFile(chunk)
  }
  return { digest: hash.digest('hex'), size }
}
