/** Commits and annotated tags begin alike: lines of a name and a value, an empty line, then the message. */

export interface Headed {
  readonly headers: readonly Header[]
  readonly body: Buffer
}

export interface Header {
  readonly name: string
  /** Lines that continue it have lost the space they begin with. */
  readonly value: Buffer
  /** As it stands in the object, all its lines. */
  readonly written: Buffer
}

/** An octopus has many parents; what has more than this wants to fill our memory. */
const MAX_HEADERS = 10_000
const NEWLINE = 10
const SPACE = 32

export function parseHeaders(content: Buffer): Headed {
  const headers: Header[] = []
  let start = 0
  while (start < content.length && content[start] !== NEWLINE) {
    if (headers.length === MAX_HEADERS) return { headers, body: content.subarray(endOfHeaders(content, start)) }
    let end = endOfLine(content, start)
    while (content[end] === SPACE) end = endOfLine(content, end)
    headers.push(headerFrom(content.subarray(start, end)))
    start = end
  }
  return { headers, body: content.subarray(start + 1) }
}

function endOfHeaders(content: Buffer, from: number): number {
  const end = content.indexOf('\n\n', from)
  return end < 0 ? content.length : end + 2
}

/** Behind the line break. */
function endOfLine(content: Buffer, from: number): number {
  const end = content.indexOf(NEWLINE, from)
  return end < 0 ? content.length : end + 1
}

function headerFrom(written: Buffer): Header {
  const line = written.at(-1) === NEWLINE ? written.subarray(0, -1) : written
  const space = line.indexOf(SPACE)
  const value = line.subarray(space < 0 ? line.length : space + 1).toString('latin1')
  return {
    name: line.toString('latin1', 0, space < 0 ? line.length : space),
    value: Buffer.from(value.replaceAll('\n ', '\n'), 'latin1'),
    written,
  }
}
