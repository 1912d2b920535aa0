/** A body, or a record of a body, that is already serialized. */
import { hash } from 'node:crypto'

const COMMA = 44
const OPENING = 91
const CLOSING = 93

/** `T` is the serialized type: an endpoint that declares `T` may answer with this instead. */
export class Json<out T> {
  /** Exists only in the type system. */
  declare readonly as: T
  readonly bytes: Buffer
  /** Differs if the bytes differ. */
  readonly digest: string
  #text: string | undefined

  private constructor(bytes: Buffer, digest: string) {
    this.bytes = bytes
    this.digest = digest
  }

  /** Cached after the first use: a short body is sent as text, together with its headers. */
  get text(): string {
    return (this.#text ??= this.bytes.toString())
  }

  /** The serialized value, parsed again. */
  get value(): T {
    return JSON.parse(this.bytes.toString()) as T
  }

  static of<T>(value: T): Json<T> {
    const text = JSON.stringify(value)
    // Not from the shared pool: a small cached slice would keep the whole pool block in memory.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    return new Json<T>(bytes, hash('sha1', text, 'base64url'))
  }

  /** A list of these. Its digest is made of theirs: hashing all bytes again would cost more than joining them. */
  static list<T>(items: readonly Json<T>[]): Json<T[]> {
    let length = Math.max(1, items.length) + 1
    for (const { bytes } of items) length += bytes.length
    const all = Buffer.allocUnsafe(length)
    let at = 0
    let digests = ''
    for (const { bytes, digest } of items) {
      all[at++] = COMMA
      all.set(bytes, at)
      at += bytes.length
      digests += digest
    }
    all[0] = OPENING
    all[length - 1] = CLOSING
    return new Json<T[]>(all, hash('sha1', digests, 'base64url'))
  }

  /** A record in which some fields are already serialized. */
  static object<T extends object>(fields: { [K in keyof T]: T[K] | Json<T[K]> }): Json<T> {
    const pieces: Buffer[] = []
    for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
      if (value === undefined) continue
      pieces.push(Buffer.from(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`))
      pieces.push(value instanceof Json ? (value as Json<unknown>).bytes : Buffer.from(JSON.stringify(value)))
    }
    const bytes = Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '{}' : '}')])
    return new Json<T>(bytes, hash('sha1', bytes, 'base64url'))
  }
}
