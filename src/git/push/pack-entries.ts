/**
 * Reads a small received pack completely, in memory. Only a pack that is certainly sound is read; null means that git
 * must judge it. See gitformat-pack(5). Every step is bounded: the number of entries, the bytes of each object, and the
 * bytes of all that is unpacked, deltas and their results included.
 */
import { hash } from 'node:crypto'
import { crc32, inflateSync, type InputType } from 'node:zlib'
import type { ObjectType } from '../objects/objects.ts'

/** For more, starting git costs little compared with its work. */
export const LARGEST_PACK = 256 * 1024
const MOST_ENTRIES = 100
const LARGEST_OBJECT = 1024 * 1024
const MOST_UNPACKED = 2 * 1024 * 1024

const TYPES: Partial<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob' }
const [BY_DISTANCE, BY_NAME] = [6, 7]
const HEADER = 12
const CHECKSUM = 20

export interface PlainObject {
  readonly id: string
  readonly type: ObjectType
  readonly content: Buffer
}

/** Where an object is in the pack. */
export interface Position {
  readonly id: string
  readonly offset: number
  readonly crc: number
}

/** An entry as it is stored. */
export interface PackEntry {
  readonly offset: number
  readonly crc: number
  /** Undefined for a delta. */
  readonly type: ObjectType | undefined
  /** The object, or the delta. */
  readonly content: Buffer
  /** The offset or the id of the delta base. */
  readonly base: number | string | undefined
}

/** All entries, in the order of the pack. */
export function entriesOf(pack: Buffer): PackEntry[] | null {
  const end = pack.length - CHECKSUM
  if (end < HEADER || pack.length > LARGEST_PACK) return null
  const count = pack.readUInt32BE(8)
  if (pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2 || count > MOST_ENTRIES) return null
  if (hash('sha1', pack.subarray(0, end)) !== pack.toString('hex', end)) return null
  const entries: PackEntry[] = []
  let unpacked = 0
  let at = HEADER
  for (let n = 0; n < count; n++) {
    const found = entryAt(pack, at, end)
    if (!found || (unpacked += found.entry.content.length) > MOST_UNPACKED) return null
    entries.push(found.entry)
    at = found.next
  }
  return at === end ? entries : null
}

/** Null for an entry that is unusual or broken. */
function entryAt(pack: Buffer, offset: number, end: number): { entry: PackEntry; next: number } | null {
  let at = offset
  const next = () => (at < end ? pack[at++]! : Number.NaN)
  let byte = next()
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let bits = 4; byte & 0x80; bits += 7) {
    // More bits than a size within the limit can have.
    if (bits > 18) return null
    size += ((byte = next()) & 0x7f) << bits
  }
  let base: number | string | undefined
  if (type === BY_NAME) {
    base = pack.toString('hex', at, (at += CHECKSUM))
  } else if (type === BY_DISTANCE) {
    let distance = (byte = next()) & 0x7f
    while (byte & 0x80 && distance < LARGEST_PACK) distance = (distance + 1) * 128 + ((byte = next()) & 0x7f)
    base = offset - distance
  } else if (!TYPES[type]) return null
  if (at >= end || size > LARGEST_OBJECT) return null
  const inflated = inflate(pack.subarray(at, end), size)
  if (!inflated) return null
  at += inflated.taken
  const crc = crc32(pack.subarray(offset, at))
  return { entry: { offset, crc, type: TYPES[type], content: inflated.content, base }, next: at }
}

// Node's types do not know the answer with `info`.
type Inflate = (bytes: InputType, options: object) => { buffer: Buffer; engine: { bytesWritten: number } }

/** The content of exactly this size, and the length of its compressed form. */
function inflate(bytes: Buffer, size: number): { content: Buffer; taken: number } | null {
  try {
    const options = { info: true, maxOutputLength: size + 1, chunkSize: Math.max(64, size + 1) }
    const { buffer, engine } = (inflateSync as unknown as Inflate)(bytes, options)
    return buffer.length === size ? { content: buffer, taken: engine.bytesWritten } : null
  } catch {
    return null
  }
}

/** The ids of delta bases that may be outside of the pack. */
export const namedBases = (entries: readonly PackEntry[]): string[] => [
  ...new Set(entries.flatMap(({ base }) => (typeof base === 'string' ? [base] : []))),
]

export interface Resolved {
  readonly objects: readonly PlainObject[]
  readonly positions: readonly Position[]
}

/** Applies all deltas. `outside` are delta bases of the repository. Null if a base is missing or an object is twice. */
export function resolve(entries: readonly PackEntry[], outside: ReadonlyMap<string, PlainObject>): Resolved | null {
  const byOffset = new Map<number, PlainObject>()
  const byId = new Map<string, PlainObject>(outside)
  const objects: PlainObject[] = []
  const positions: Position[] = []
  let unpacked = 0
  let pending = entries
  while (pending.length > 0) {
    const waiting: PackEntry[] = []
    for (const entry of pending) {
      const { offset, crc, base } = entry
      const below = typeof base === 'number' ? byOffset.get(base) : typeof base === 'string' ? byId.get(base) : null
      if (below === undefined) {
        waiting.push(entry)
        continue
      }
      const type = below ? below.type : entry.type!
      const content = below ? applied(entry.content, below.content) : entry.content
      if (!content || (unpacked += content.length) > MOST_UNPACKED) return null
      const object = { id: idOf(type, content), type, content }
      if (byId.has(object.id)) return null
      byOffset.set(offset, object)
      byId.set(object.id, object)
      objects.push(object)
      positions.push({ id: object.id, offset, crc })
    }
    if (waiting.length === pending.length) return null
    pending = waiting
  }
  return { objects, positions }
}

export const idOf = (type: ObjectType, content: Buffer): string =>
  hash('sha1', Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]))

/** Null for a delta that does not fit its base. */
function applied(delta: Buffer, base: Buffer): Buffer | null {
  let at = 0
  const next = () => (at < delta.length ? delta[at++]! : Number.NaN)
  const number = () => {
    let value = 0
    for (let [bits, byte] = [0, 0x80]; byte & 0x80; bits += 7) {
      if (bits > 21) return Number.NaN
      value += ((byte = next()) & 0x7f) << bits
      if (Number.isNaN(byte)) return byte
    }
    return value
  }
  const [from, size] = [number(), number()]
  if (from !== base.length || !(size <= LARGEST_OBJECT)) return null
  const result = Buffer.allocUnsafeSlow(size)
  let written = 0
  while (at < delta.length) {
    const command = next()
    let [source, start, length] = [delta, at, command]
    if (command & 0x80) {
      ;[source, start, length] = [base, 0, 0]
      for (let n = 0; n < 4; n++) if (command & (1 << n)) start += next() * 2 ** (8 * n)
      for (let n = 0; n < 3; n++) if (command & (0x10 << n)) length += next() * 2 ** (8 * n)
      length ||= 0x10000
    } else at += length
    // Also false for a number that the end of the delta has cut.
    if (!(length > 0 && start + length <= source.length && written + length <= size)) return null
    source.copy(result, written, start, start + length)
    written += length
  }
  return written === size ? result : null
}
