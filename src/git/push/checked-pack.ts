/**
 * Checks a small pack in process, as `git index-pack --strict --fix-thin` would, because starting git costs ten times
 * what the check costs. It only ever accepts: null means that git must judge the pack. A fuzz test compares both.
 */
import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { objectInfos, readKnown } from '../objects/objects.ts'
import { indexOf } from '../objects/pack-index.ts'
import { entriesOf, namedBases, resolve, type Position, type PlainObject, type Resolved } from './pack-entries.ts'
import { areAttributesPlain, referencesOf, type Reference } from './plain-objects.ts'

export interface CheckedPack {
  /** Without the extension of the file. */
  readonly name: string
  /** With all delta bases. */
  readonly pack: Buffer
  readonly index: Buffer
}

/** The maximum number of other objects that must exist. */
const MOST_REFERENCES = 5000
const LARGEST_BASE = 1024 * 1024
const MOST_BASES = 4 * 1024 * 1024

export async function checkPack(dir: string, received: Buffer): Promise<CheckedPack | null> {
  const entries = entriesOf(received)
  if (!entries || entries.length === 0) return null
  const outside = await basesIn(dir, namedBases(entries))
  const resolved = resolve(entries, outside)
  if (!resolved) return null
  const added = basesAmong(namedBases(entries), resolved, outside)
  if (!added || !(await isSound(dir, resolved.objects, added))) return null
  return complete(received, resolved.positions, added)
}

/** The delta bases that the repository has. A memory of objects may know them, so their existence is checked later. */
async function basesIn(dir: string, ids: readonly string[]): Promise<Map<string, PlainObject>> {
  const found = await readKnown(dir, ids, { maxBytes: LARGEST_BASE, maxTotal: MOST_BASES })
  return new Map(
    found.flatMap((object) => (object?.content ? [[object.id, { ...object, content: object.content }] as const] : [])),
  )
}

function basesAmong(
  named: readonly string[],
  { objects }: Resolved,
  outside: ReadonlyMap<string, PlainObject>,
): PlainObject[] | null {
  const inside = new Set(objects.map(({ id }) => id))
  const added = named.filter((id) => !inside.has(id)).map((id) => outside.get(id))
  return added.includes(undefined) ? null : (added as PlainObject[])
}

/** Whether all objects are as git wants them, new to the repository, and name only objects of the type that they say. */
async function isSound(dir: string, objects: readonly PlainObject[], bases: readonly PlainObject[]): Promise<boolean> {
  const here = new Map(objects.map((object) => [object.id, object]))
  const elsewhere = new Map<string, Reference>()
  for (const object of objects) {
    const references = referencesOf(object)
    if (!references) return false
    for (const reference of references) {
      const { id, type, isAttributes } = reference
      const target = here.get(id)
      const known = target ?? elsewhere.get(id)
      if (known && known.type !== type) return false
      if (target && isAttributes && !areAttributesPlain(target.content)) return false
      if (!target && (isAttributes || !known)) elsewhere.set(id, reference)
    }
    if (elsewhere.size > MOST_REFERENCES) return false
  }
  const others = [...elsewhere.values()]
  const [own, ...rest] = [[...here.keys()], others.map(({ id }) => id), bases.map(({ id }) => id)]
  const infos = await objectInfos(dir, [...own, ...rest.flat()])
  // Git compares an object that exists with the new one of the same id.
  if (infos.slice(0, own.length).some((info) => info !== null)) return false
  const expected = [...others, ...bases]
  if (!expected.every(({ type }, n) => infos[own.length + n]?.type === type)) return false
  return hasPlainAttributes(dir, others)
}

async function hasPlainAttributes(dir: string, references: readonly Reference[]): Promise<boolean> {
  const ids = references.flatMap(({ id, isAttributes }) => (isAttributes ? [id] : []))
  const found = await readKnown(dir, ids, { maxBytes: LARGEST_BASE, maxTotal: MOST_BASES })
  return found.every((object) => object?.content && areAttributesPlain(object.content))
}

const TYPE_BITS = { commit: 1, tree: 2, blob: 3, tag: 4 }

/** Appends the missing delta bases, as git does, because a stored pack needs nothing outside of it. */
function complete(received: Buffer, positions: readonly Position[], bases: readonly PlainObject[]): CheckedPack {
  const parts = [Buffer.from(received.subarray(0, 12)), received.subarray(12, -20)]
  parts[0]!.writeUInt32BE(positions.length + bases.length, 8)
  const added: Position[] = []
  let offset = received.length - 20
  for (const { id, type, content } of bases) {
    const entry = Buffer.concat([entryHead(TYPE_BITS[type], content.length), deflateSync(content)])
    added.push({ id, offset, crc: crc32(entry) })
    parts.push(entry)
    offset += entry.length
  }
  const whole = createHash('sha1')
  for (const part of parts) whole.update(part)
  const checksum = whole.digest()
  return {
    name: `pack-${checksum.toString('hex')}`,
    pack: Buffer.concat([...parts, checksum]),
    index: indexOf([...positions, ...added], checksum),
  }
}

function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes[bytes.length - 1]! |= 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}
