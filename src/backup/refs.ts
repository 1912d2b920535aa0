/**
 * The refs of a repository in an archive. A short list is part of the record. A long one is split by the names of the
 * refs into objects of the archive (buckets), so that a push stores only the buckets whose refs it has changed.
 */
import { hash } from 'node:crypto'
import { compress, type Archive } from './archive.ts'
import { Damaged, hasBuckets, refList, type StoredRefs } from './manifest.ts'

/** Full names, and the ids of the objects. */
export type Refs = ReadonlyMap<string, string>

const MOST_LISTED = 500
const BUCKETS = 64

const bucketOf = (name: string): number => hash('sha256', name, 'buffer')[0]! % BUCKETS

export const countRefs = (stored: StoredRefs): number =>
  hasBuckets(stored) ? stored.count : Object.keys(stored).length

/** The content of an object, by its digest. */
type Buckets = ReadonlyMap<string, { readonly refs: Refs; readonly bytes: Buffer }>

export interface PackedRefs {
  readonly stored: StoredRefs
  readonly buckets: Buckets
}

/** Equal refs give equal objects. Stores nothing. */
export async function packRefs(refs: Refs): Promise<PackedRefs> {
  const sorted = [...refs].toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (refs.size <= MOST_LISTED) return { stored: Object.fromEntries(sorted), buckets: new Map() }
  const parts = Array.from({ length: BUCKETS }, () => new Map<string, string>())
  for (const [name, id] of sorted) parts[bucketOf(name)]!.set(name, id)
  const packed = await Promise.all(
    parts.map(async (part) => {
      const bytes = await compress(Buffer.from(JSON.stringify(Object.fromEntries(part))))
      return [hash('sha256', bytes), { refs: part, bytes }] as const
    }),
  )
  return { stored: { count: refs.size, buckets: packed.map(([digest]) => digest) }, buckets: new Map(packed) }
}

/** Stores the buckets that the record before does not name. */
export async function storeBuckets(
  archive: Archive,
  { buckets }: PackedRefs,
  before: StoredRefs | null,
): Promise<void> {
  const known = new Set(before && hasBuckets(before) ? before.buckets : [])
  for (const [digest, { bytes }] of buckets) if (!known.has(digest)) await archive.put(bytes)
}

/** Buckets whose content is known are not read from the archive. */
export async function readStoredRefs(archive: Archive, stored: StoredRefs, known: Buckets = new Map()): Promise<Refs> {
  if (!hasBuckets(stored)) return new Map(Object.entries(stored))
  const all = new Map<string, string>()
  for (const [n, digest] of stored.buckets.entries()) {
    const refs = known.get(digest)?.refs ?? Object.entries(await archive.readJson(digest, refList))
    for (const [name, id] of refs) {
      if (bucketOf(name) !== n) throw new Damaged(`the object ${digest} holds refs of another list`)
      all.set(name, id)
    }
  }
  if (all.size !== stored.count)
    throw new Damaged(`a repository has ${all.size} refs of ${stored.count}: the list of its refs is not whole`)
  return all
}
