/** Zip archives in local files. */
import { open } from 'node:fs/promises'
import { openZip, type ZipArchive, type ZipLimits, type ZipSource } from './reader.ts'

export interface ZipFile extends ZipArchive, AsyncDisposable {}

const CHUNK = 64 * 1024

export async function openZipFile(path: string, limits: Partial<ZipLimits> = {}): Promise<ZipFile> {
  const file = await open(path)
  try {
    const source: ZipSource = {
      size: (await file.stat()).size,
      async *read(start, end) {
        for (let at = start; at < end;) {
          const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK), 0, Math.min(CHUNK, end - at), at)
          if (bytesRead === 0) return
          at += bytesRead
          yield buffer.subarray(0, bytesRead)
        }
      },
    }
    return { ...(await openZip(source, limits)), [Symbol.asyncDispose]: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}
