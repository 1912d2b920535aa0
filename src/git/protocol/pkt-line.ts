/**
 * The frames of git's protocol: four hex digits of length, then that many bytes minus four. Parses lines from chunks of
 * any size. Holds at most one line, and rejects invalid data at its first four bytes.
 */

/** The maximum content of one line. */
export const MAX_LINE = 65516

const HEADER = 4

/** The other side does not send pkt-lines, or stopped within one. */
export class BadPktLine extends Error {
  constructor(what: string) {
    super(`protocol error: ${what}`)
    this.name = 'BadPktLine'
  }
}

/** Lines without content, each with its own meaning. */
export type Sign = 'flush' | 'delim' | 'response-end'
export type Packet = Buffer | Sign

export const FLUSH = Buffer.from('0000')
export const DELIM = Buffer.from('0001')
export const RESPONSE_END = Buffer.from('0002')

const SIGNS: readonly Sign[] = ['flush', 'delim', 'response-end']

export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (bytes.length > MAX_LINE) throw new RangeError('too long for one pkt-line')
  const head = (bytes.length + HEADER).toString(16).padStart(HEADER, '0')
  return Buffer.concat([Buffer.from(head), bytes])
}

export class PktLineDecoder {
  readonly #longest: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** The length of the current line, once its header has been read. */
  #needed: number | null = null

  constructor({ longest = MAX_LINE }: { longest?: number } = {}) {
    this.#longest = longest
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The next line. Null if more chunks are needed. */
  next(): Packet | null {
    if (this.#needed === null) {
      if (this.#bytes < HEADER) return null
      const length = lengthOf(this.#take(HEADER))
      const sign = SIGNS[length]
      if (sign) return sign
      if (length < HEADER) throw new BadPktLine(`bad line length ${length}`)
      if (length - HEADER > this.#longest) throw new BadPktLine('line too long')
      this.#needed = length - HEADER
    }
    if (this.#bytes < this.#needed) return null
    const line = this.#take(this.#needed)
    this.#needed = null
    return line
  }

  /** The remaining bytes that belong to no line: a pack follows the lines without a frame. */
  rest(): Buffer {
    if (this.#needed !== null) throw new BadPktLine('cut off within a line')
    return this.#take(this.#bytes)
  }

  /** Called at the end of the stream. Throws if the stream ended within a line. */
  end(): void {
    if (this.#needed !== null || this.#bytes > 0) throw new BadPktLine('cut off within a line')
  }

  /**
   * Joins the chunks only when all are here. Otherwise a line that arrives byte by byte would be copied for each byte.
   */
  #take(size: number): Buffer {
    if (size === 0) return Buffer.alloc(0)
    const first = this.#chunks[0]!
    const all = first.length >= size ? first : Buffer.concat(this.#chunks)
    if (all !== first) this.#chunks = [all]
    const rest = all.subarray(size)
    if (rest.length > 0) this.#chunks[0] = rest
    else this.#chunks.shift()
    this.#bytes -= size
    return all.subarray(0, size)
  }
}

function lengthOf(header: Buffer): number {
  const digits = header.toString('latin1')
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new BadPktLine('bad line length')
  return Number.parseInt(digits, 16)
}

/** `side-band-64k`: the answer, messages for the user, and the final error. */
export type Band = 1 | 2 | 3

export const MAX_BAND = MAX_LINE - 1

/** Empty content gives an empty line, which tells the other side that the server is alive. */
export function* band(number: Band, content: string | Uint8Array): Generator<Buffer> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const prefix = Buffer.of(number)
  for (let at = 0; at === 0 || at < bytes.length; at += MAX_BAND)
    yield pktLine(Buffer.concat([prefix, bytes.subarray(at, at + MAX_BAND)]))
}

export function splitBand(line: Buffer): { band: Band; content: Buffer } {
  const number = line[0]
  if (number !== 1 && number !== 2 && number !== 3) throw new BadPktLine('bad band')
  return { band: number, content: line.subarray(1) }
}
