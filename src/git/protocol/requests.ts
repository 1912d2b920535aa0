/** Reads short requests completely, so that they can be answered without starting git. */
import { Readable } from 'node:stream'
import { ClientDisconnected } from './sending.ts'

/** The whole request if it is short. Otherwise a stream of all of it. */
export async function takeShort(
  input: Readable,
  { longest, idle }: { longest: number; idle: number },
): Promise<Buffer | Readable> {
  const chunks: Buffer[] = []
  let size = 0
  const silence = setTimeout(() => input.destroy(new ClientDisconnected()), idle)
  const parts = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  try {
    while (size <= longest) {
      const { done, value } = await parts.next()
      if (done) return Buffer.concat(chunks)
      silence.refresh()
      chunks.push(value)
      size += value.length
    }
  } finally {
    clearTimeout(silence)
  }
  return Readable.from(followed(chunks, parts), { objectMode: false })
}

async function* followed(chunks: readonly Buffer[], parts: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
  yield* { [Symbol.asyncIterator]: () => parts }
}
