/** The common start of commits and annotated tags: lines with a name and a value, an empty line, then the message. */

export interface Headed {
  readonly headers: readonly Header[]
  readonly body: Buffer
}

export interface Header {
  readonly name: string
  /** Continuation lines without their leading space. */
  readonly value: Buffer
  /** All lines as they are in the object. */
  readonly written: Buffer
}

/** An octopus merge has many parents. An object with more headers than this only tries to fill the memory. */
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

/** The position after the line break. */
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
