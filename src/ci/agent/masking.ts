/** Masks secrets in the output of a job, however the output is split into chunks. */
import { Matcher } from './matcher.ts'

const MASK = Buffer.from('[MASKED]')
/** An endless sequence of overlapping secrets is cut at this length. */
const LONGEST_ROW = 4

const MOST_SECRETS = 1000
/** Searches longer secrets in pieces, so that few bytes must be held back. */
const PIECE = 4096

type Range = [from: number, to: number]

export class Masker {
  readonly #matcher: Matcher | null
  readonly #longest: number
  #pending: Buffer = Buffer.alloc(0)
  /** The ranges of the held bytes to mask, in order. Overlapping ranges are merged. */
  #found: Range[] = []

  constructor(secrets: Iterable<string>) {
    const distinct = [...new Set(secrets)].filter((secret) => secret !== '').slice(0, MOST_SECRETS)
    const pieces = distinct.flatMap((secret) => piecesOf(Buffer.from(secret)))
    this.#matcher = pieces.length > 0 ? new Matcher(pieces) : null
    this.#longest = pieces.reduce((longest, { length }) => Math.max(longest, length), 0)
  }

  /** Returns the bytes that cannot be part of a secret any more. */
  push(chunk: Buffer): Buffer {
    if (!this.#matcher) return chunk
    const text = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk
    this.#matcher.read(text, this.#pending.length, (end, length) => this.#note(end - length, end))
    let end = text.length - this.#matcher.open
    const across = this.#found.findLast(([from]) => from < end)
    if (across && across[1] > end) end = text.length - across[0] > LONGEST_ROW * this.#longest ? across[1] : across[0]
    return this.#take(text, Math.max(0, end))
  }

  end(): Buffer {
    const text = this.#take(this.#pending, this.#pending.length)
    this.#matcher?.reset()
    return text
  }

  #note(begin: number, to: number): void {
    // The start of a sequence that was cut is already masked.
    let from = Math.max(0, begin)
    for (let last = this.#found.at(-1); last && from < last[1]; last = this.#found.at(-1)) {
      from = Math.min(from, last[0])
      this.#found.pop()
    }
    this.#found.push([from, to])
  }

  #take(text: Buffer, end: number): Buffer {
    const safe = masked(text.subarray(0, end), this.#found)
    this.#pending = text.subarray(end)
    this.#found = this.#found.filter(([, to]) => to > end).map(([from, to]) => [from - end, to - end])
    return safe
  }
}

function piecesOf(secret: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  let rest = secret
  // The last piece takes the rest, because a short piece would match everywhere.
  for (; rest.length >= 2 * PIECE; rest = rest.subarray(PIECE)) pieces.push(rest.subarray(0, PIECE))
  return [...pieces, rest]
}

function masked(text: Buffer, found: readonly Range[]): Buffer {
  if (found.length === 0) return text
  const parts: Buffer[] = []
  let at = 0
  for (const [from, to] of found) {
    if (from >= text.length) break
    parts.push(text.subarray(at, from), MASK)
    at = to
  }
  return Buffer.concat([...parts, text.subarray(at)])
}

const isTokenByte = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  [0x2d, 0x2e, 0x3d, 0x5f].includes(byte)

const MOST_PREFIXES = 10

/** Masks the characters after known token prefixes, for tokens of any owner. */
export class PrefixMasker {
  readonly #prefixes: Buffer[]
  readonly #longest: number
  #pending: Buffer = Buffer.alloc(0)
  #inToken = false

  constructor(prefixes: Iterable<string>) {
    this.#prefixes = [...new Set(prefixes)]
      .filter(Boolean)
      .slice(0, MOST_PREFIXES)
      .map((prefix) => Buffer.from(prefix))
    this.#longest = Math.max(0, ...this.#prefixes.map(({ length }) => length))
  }

  push(chunk: Buffer): Buffer {
    if (this.#prefixes.length === 0) return chunk
    const text = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk
    return this.#pass(text, Math.max(0, text.length - this.#longest + 1))
  }

  end(): Buffer {
    return this.#pass(this.#pending, this.#pending.length)
  }

  #pass(text: Buffer, certain: number): Buffer {
    const parts: Buffer[] = []
    const nearest = this.#finder(text)
    let at = 0
    for (;;) {
      if (this.#inToken) {
        while (at < text.length && isTokenByte(text[at]!)) at++
        if (at === text.length) break
        this.#inToken = false
      }
      const found = nearest(at)
      if (!found) break
      const end = found.from + found.length
      parts.push(text.subarray(at, end), MASK)
      at = end
      this.#inToken = true
    }
    const kept = Math.max(at, certain)
    this.#pending = text.subarray(kept)
    return Buffer.concat([...parts, text.subarray(at, kept)])
  }
  /** Returns the next prefix, the longest if several start there. Each prefix is searched from its last match on. */
  #finder(text: Buffer): (at: number) => { from: number; length: number } | undefined {
    const ahead = this.#prefixes.map((prefix) => ({ prefix, from: -1, length: prefix.length }))
    return (at) => {
      let first: (typeof ahead)[number] | undefined
      for (const next of ahead) {
        if (next.from < at) next.from = indexOf(text, next.prefix, at)
        const isFirst = next.from < (first?.from ?? Infinity)
        if (isFirst || (first && next.from === first.from && next.length > first.length)) first = next
      }
      return first
    }
  }
}

function indexOf(text: Buffer, prefix: Buffer, from: number): number {
  const at = text.indexOf(prefix, from)
  return at < 0 ? Infinity : at
}
