/** Parses and writes the index of a pack: its objects and their offsets. See gitformat-pack(5). */
import { createHash } from 'node:crypto'

/** The order for moving pack files into place: git finds packs by their index, so the index comes last. */
export const indexLast = (names: readonly string[]): string[] =>
  names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))

const VERSION_2 = Buffer.from('ff744f6300000002', 'hex')

/** Offsets by id, for packs below 2 GB. Empty for an index of another version, which git does not write. */
export function offsetsIn(index: Buffer): Map<string, number> {
  if (!index.subarray(0, VERSION_2.length).equals(VERSION_2)) return new Map()
  // A table of 256 counts whose last entry is the total; then ids, checksums and offsets.
  const ids = VERSION_2.length + 256 * 4
  const count = index.readUInt32BE(ids - 4)
  const offsets = ids + count * 24
  return new Map(
    Array.from({ length: count }, (_, n) => [
      index.toString('hex', ids + n * 20, ids + n * 20 + 20),
      index.readUInt32BE(offsets + n * 4),
    ]),
  )
}

export interface IndexedObject {
  readonly id: string
  readonly offset: number
  /** Of the entry as it is in the pack. */
  readonly crc: number
}

/** The index of a pack below 2 GB. `checksum` is the end of the pack. */
export function indexOf(objects: readonly IndexedObject[], checksum: Buffer): Buffer {
  const sorted = objects.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const counts = Buffer.alloc(256 * 4)
  for (const { id } of sorted) {
    const first = Number.parseInt(id.slice(0, 2), 16)
    counts.writeUInt32BE(counts.readUInt32BE(first * 4) + 1, first * 4)
  }
  for (let n = 1; n < 256; n++)
    counts.writeUInt32BE(counts.readUInt32BE(n * 4) + counts.readUInt32BE((n - 1) * 4), n * 4)
  const numbers = (valueOf: (object: IndexedObject) => number) => {
    const bytes = Buffer.alloc(sorted.length * 4)
    for (const [n, object] of sorted.entries()) bytes.writeUInt32BE(valueOf(object), n * 4)
    return bytes
  }
  const ids = Buffer.from(sorted.map(({ id }) => id).join(''), 'hex')
  const body = [VERSION_2, counts, ids, numbers(({ crc }) => crc), numbers(({ offset }) => offset), checksum]
  const whole = createHash('sha1')
  for (const part of body) whole.update(part)
  return Buffer.concat([...body, whole.digest()])
}
