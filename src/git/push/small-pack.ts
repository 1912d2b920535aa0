/**
 * Reads a small pack in quarantine without a process, enough to rule out cases that most pushes are not. It answers
 * only what is certain; git must answer everything else. See gitformat-pack(5). The pack was checked
 * before, and has all delta bases.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import { LONGEST_POINTER } from '../../lib/files/lfs-pointer.ts'
import { offsetsIn } from '../objects/pack-index.ts'

/** For larger packs, one more process costs little compared with the work so far. */
const MOST_OBJECTS = 500
const LARGEST = 8 * 1024 * 1024
const LARGEST_COMMIT = 64 * 1024

interface Entry {
  readonly type: number
  readonly size: number
  /** The start of the compressed content. */
  readonly data: number
  /** The delta base. */
  readonly base?: number
}

const [COMMIT, BLOB, BY_DISTANCE, BY_NAME] = [1, 3, 6, 7]
const POINTER = Buffer.from('version https://')

/** Opens the pack of a quarantine folder. Null if there is more than a small pack. */
export async function openSmallPack(objects: string): Promise<SmallPack | null> {
  const [folders, files] = await Promise.all([readdir(objects), readdir(join(objects, 'pack'))])
  const [pack, another] = files.filter((name) => name.endsWith('.pack'))
  if (pack === undefined || another !== undefined || folders.some((name) => name !== 'pack')) return null
  const path = join(objects, 'pack', pack)
  if ((await stat(path)).size > LARGEST) return null
  const [content, index] = await Promise.all([readFile(path), readFile(path.replace(/\.pack$/, '.idx'))])
  return content.readUInt32BE(8) > MOST_OBJECTS ? null : new SmallPack(content, index)
}

export class SmallPack {
  readonly #content: Buffer
  readonly #offsets: ReadonlyMap<string, number>
  readonly #entries: ReadonlyMap<number, Entry>

  constructor(content: Buffer, index: Buffer) {
    this.#content = content
    this.#offsets = offsetsIn(index)
    this.#entries = new Map([...this.#offsets.values()].map((at) => [at, this.#entryAt(at)]))
  }

  has(id: string): boolean {
    return this.#offsets.has(id)
  }

  /** True only if the pack contains the object and it is certainly a commit. */
  isCommit(id: string): boolean {
    return this.#entries.get(this.#offsets.get(id) ?? -1)?.type === COMMIT
  }

  /** False only if certainly no object is a Git LFS pointer. */
  mayHoldPointers(): boolean {
    return [...this.#entries.values()].some((entry) => {
      if (!this.#isBlob(entry)) return false
      if (entry.base !== undefined) return this.#resultOf(entry) <= LONGEST_POINTER
      return entry.size <= LONGEST_POINTER && this.#begin(entry, LONGEST_POINTER).includes(POINTER)
    })
  }

  /** True only if a commit is certainly based on another one, through commits that are all in this pack. */
  leads(from: string, to: string): boolean {
    const seen = new Set([from])
    for (const id of seen) {
      if (id === to) return true
      for (const parent of this.#parentsOf(id)) seen.add(parent)
    }
    return false
  }

  #parentsOf(id: string): string[] {
    const entry = this.#entries.get(this.#offsets.get(id) ?? -1)
    if (entry?.type !== COMMIT || entry.size > LARGEST_COMMIT) return []
    const [head] = this.#begin(entry, LARGEST_COMMIT).toString('latin1').split('\n\n', 1)
    return [...head!.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent!)
  }

  #entryAt(at: number): Entry {
    const content = this.#content
    let data = at
    let byte = content[data++]!
    const type = (byte >> 4) & 7
    let size = byte & 15
    for (let bits = 4; byte & 0x80; bits += 7) size += ((byte = content[data++]!) & 0x7f) * 2 ** bits
    if (type === BY_NAME) {
      const base = this.#offsets.get(content.toString('hex', data, data + 20)) ?? -1
      return { type, size, data: data + 20, base }
    }
    if (type !== BY_DISTANCE) return { type, size, data }
    let distance = (byte = content[data++]!) & 0x7f
    while (byte & 0x80) distance = (distance + 1) * 128 + ((byte = content[data++]!) & 0x7f)
    return { type, size, data, base: at - distance }
  }

  #isBlob(entry: Entry | undefined): boolean {
    while (entry?.base !== undefined) entry = this.#entries.get(entry.base)
    return entry === undefined || entry.type === BLOB
  }

  /** The content of this number of compressed bytes. For a shorter entry, all of it. */
  #begin({ data }: Entry, packed: number): Buffer {
    return inflateSync(this.#content.subarray(data, data + packed), { finishFlush: constants.Z_SYNC_FLUSH })
  }

  /** The result size of a delta: the second number in it. 0 if unknown. */
  #resultOf(entry: Entry): number {
    const delta = this.#begin(entry, 128)
    let at = 0
    while (delta[at]! & 0x80) at++
    let size = 0
    for (let bits = 0; ; bits += 7) {
      const byte = delta[++at]
      if (byte === undefined) return 0
      size += (byte & 0x7f) * 2 ** bits
      if (!(byte & 0x80)) return size
    }
  }
}
