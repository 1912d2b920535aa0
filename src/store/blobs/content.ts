/** What every kind of blob store agrees on: where a digest stands, what a range is, how content comes in. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Refusal } from '../../errors.ts'
import type { Blob, Range } from './blobs.ts'

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** The same path in a folder and in a bucket, so that one can be copied into the other. */
export function blobPath(digest: string): string {
  if (!isDigest(digest)) throw new Error('not a digest')
  return `${digest.slice(0, 2)}/${digest.slice(2)}`
}

export function checkRange({ start, end = start }: Range): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new Error('not a range')
}

/** Content that has come in whole but is not kept yet: a file that goes with its scope unless it was moved away. */
export interface Draft extends Blob, AsyncDisposable {
  readonly path: string
}

export async function receive(content: Readable | Uint8Array, folder: string, limit = Infinity): Promise<Draft> {
  const source = content instanceof Readable ? content : Readable.from([content])
  // The loop below is told of errors too; but one that comes before or after it would end the process.
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
