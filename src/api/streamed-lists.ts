/** Lists of any length, written while they are read: only one piece is in memory. */
import { Readable } from 'node:stream'
import { Answer } from './endpoint.ts'
import { Json } from './json.ts'

/** Characters per piece. */
const PIECE = 64 * 1024

export function answerList<T>(
  items: AsyncIterable<T> | Iterable<T>,
  present: (item: T) => unknown,
  headers: Record<string, string> = {},
): Answer {
  const body = Readable.from(piecesOf(items, present), { objectMode: false, highWaterMark: PIECE })
  return new Answer(200, body, { ...headers, 'Content-Type': 'application/json' })
}

async function* piecesOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  present: (item: T) => unknown,
): AsyncGenerator<string> {
  let piece = ''
  let separator = '['
  for await (const item of items) {
    const shown = present(item)
    piece += separator + (shown instanceof Json ? shown.text : JSON.stringify(shown))
    separator = ','
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield `${piece}${separator === '[' ? '[' : ''}]`
}
