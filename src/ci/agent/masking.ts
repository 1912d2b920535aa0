/** Masks secrets in the output of a job, however the output is split into chunks. */

const MASK = Buffer.from('[MASKED]')
/** An endless sequence of overlapping secrets is cut at this length. */
const LONGEST_ROW = 4

const MOST_SECRETS = 1000
/** Searches longer secrets in pieces, so that few bytes must be held back. */
const PIECE = 4096

export class Masker {
  readonly #secrets: Buffer[]
  readonly #byFirst: Map<number, Buffer[]>
  readonly #longest: number
  #held: Buffer = Buffer.alloc(0)

  constructor(secrets: Iterable<string>) {
    const distinct = [...new Set(secrets)].filter((secret) => secret !== '').slice(0, MOST_SECRETS)
    const pieces = distinct.flatMap((secret) => piecesOf(Buffer.from(secret)))
    this.#secrets = pieces.filter((piece, n) => pieces.findIndex((other) => other.equals(piece)) === n)
    this.#byFirst = Map.groupBy(this.#secrets, (secret) => secret[0]!)
    this.#longest = Math.max(0, ...this.#secrets.map(({ length }) => length))
  }

  /** Returns the bytes that cannot be part of a secret any more. */
  push(chunk: Buffer): Buffer {
    if (this.#secrets.length === 0) return chunk
    const text = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const found = this.#find(text)
    let end = this.#openEnd(text)
    const across = found.find(([from, to]) => from < end && end < to)
    if (across) end = text.length - across[0] > LONGEST_ROW * this.#longest ? across[1] : across[0]
    this.#held = text.subarray(end)
    return masked(text.subarray(0, end), found)
  }

  end(): Buffer {
    const text = this.#held
    this.#held = Buffer.alloc(0)
    return masked(text, this.#find(text))
  }

  /** The ranges to mask, in order. Overlapping ranges are merged. */
  #find(text: Buffer): [number, number][] {
    const all: [number, number][] = []
    for (const secret of this.#secrets) {
      for (let at = text.indexOf(secret); at >= 0;) {
        all.push([at, at + secret.length])
        // Of the overlapping matches only the last counts: a repeated one-letter secret would match at every position.
        const last = text.lastIndexOf(secret, at + secret.length - 1)
        at = last > at ? last : text.indexOf(secret, at + secret.length)
      }
    }
    if (all.length < 2) return all
    all.sort(([a], [b]) => a - b)
    const merged: [number, number][] = []
    for (const range of all) {
      const last = merged.at(-1)
      if (last && range[0] < last[1]) last[1] = Math.max(last[1], range[1])
      else merged.push(range)
    }
    return merged
  }

  /** The first position from which the end of the text may be the start of a secret. */
  #openEnd(text: Buffer): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      const rest = text.length - at
      const mayBegin = (secret: Buffer) => secret.length > rest && secret.compare(text, at, text.length, 0, rest) === 0
      if (this.#byFirst.get(text[at]!)?.some(mayBegin)) return at
    }
    return text.length
  }
}

function piecesOf(secret: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  let rest = secret
  // The last piece takes the rest, because a short piece would match everywhere.
  for (; rest.length >= 2 * PIECE; rest = rest.subarray(PIECE)) pieces.push(rest.subarray(0, PIECE))
  return [...pieces, rest]
}

function masked(text: Buffer, found: [number, number][]): Buffer {
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

/** Masks the characters after known token prefixes, whoever owns the token. */
export class PrefixMasker {
  readonly #prefixes: Buffer[]
  readonly #longest: number
  #held: Buffer = Buffer.alloc(0)
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
    const text = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    return this.#pass(text, Math.max(0, text.length - this.#longest + 1))
  }

  end(): Buffer {
    return this.#pass(this.#held, this.#held.length)
  }

  #pass(text: Buffer, certain: number): Buffer {
    const parts: Buffer[] = []
    let at = 0
    for (;;) {
      if (this.#inToken) {
        while (at < text.length && isTokenByte(text[at]!)) at++
        if (at === text.length) break
        this.#inToken = false
      }
      const found = this.#prefixes
        .map((prefix) => ({ from: text.indexOf(prefix, at), length: prefix.length }))
        .filter(({ from }) => from >= 0)
        .toSorted((a, b) => a.from - b.from || b.length - a.length)[0]
      if (!found) break
      const end = found.from + found.length
      parts.push(text.subarray(at, end), MASK)
      at = end
      this.#inToken = true
    }
    const kept = Math.max(at, certain)
    this.#held = text.subarray(kept)
    return Buffer.concat([...parts, text.subarray(at, kept)])
  }
}
