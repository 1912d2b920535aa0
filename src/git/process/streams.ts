/** Reading what git writes piece by piece. */
import type { Readable } from 'node:stream'

/** A piece longer than this is cut: nothing of git's own is, content of a repository may be. */
const MAX_PIECE = 1024 * 1024

/**
 * What stands between separators, without them; as many at a time as have come, for one by one they would cost more
 * than all that is done with them. Leaving the loop ends git.
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
