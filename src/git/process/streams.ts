/** Reads the output of git piece by piece. */
import type { Readable } from 'node:stream'

/** A longer piece is cut. Git's own output is never that long, but repository content may be. */
const MAX_PIECE = 1024 * 1024

/**
 * Yields the parts between separators, in batches as they arrive, because yielding them one by one would cost more than
 * processing them. Leaving the loop ends git.
 */
export async function* pieces(stream: Readable, separator: number): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const found: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, start)) {
      const piece = chunk.subarray(start, end)
      found.push(rest.length === 0 ? piece : Buffer.concat([...rest, piece]))
      rest = []
      length = 0
      start = end + 1
    }
    if (start < chunk.length && length < MAX_PIECE) {
      rest.push(chunk.subarray(start))
      length += chunk.length - start
    }
    yield found
  }
  if (rest.length > 0) yield [Buffer.concat(rest)]
}
