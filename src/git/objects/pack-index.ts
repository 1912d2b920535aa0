/** Parses the index of a pack: its objects and their offsets. See gitformat-pack(5). */

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
