/**
 * A listing of a very large folder, as git writes it: folders first, then files, then submodules. The output is cached
 * by the id of the folder, unless it is too large: then git writes it again for every page. A few trees can produce an
 * endless listing, so it stops after a million entries.
 */
import { rev } from '../process/arguments.ts'
import { gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { Memory } from './memory.ts'
import { textOf } from './texts.ts'
import { listFew, typeOf, type TreeEntry } from './trees.ts'

const MOST_WALKED = 1_000_000
const KINDS = ['tree', 'blob', 'commit'] as const
type Kind = (typeof KINDS)[number]
type ByKind<T> = Readonly<Record<Kind, T>>

/** Lines `<mode> <type> <id>\t<path>\0`, and where those of each kind start. */
interface Output {
  readonly bytes: Buffer
  readonly starts: ByKind<Uint32Array>
}

interface Known {
  readonly counts: ByKind<number>
  /** Null if it is too large for the cache. */
  readonly output: Output | null
}

/** Some 60,000 files. With its counts it is within the largest share of the caches, an eighth of 64 MB. */
const MOST_OUTPUT = 6 * 1024 * 1024

const known = new Memory<Known>('long listings', ({ output }) =>
  output ? KINDS.reduce((sum, kind) => sum + output.starts[kind].byteLength, output.bytes.length) : 0,
)

export class LongListing {
  readonly #dir: string
  readonly #tree: string
  readonly #prefix: string
  readonly #recursive: boolean

  constructor(dir: string, tree: string, prefix: string, recursive: boolean) {
    this.#dir = dir
    this.#tree = tree
    this.#prefix = prefix
    this.#recursive = recursive
  }

  async total(): Promise<number> {
    const { counts } = await this.#known()
    return KINDS.reduce((sum, kind) => sum + counts[kind], 0)
  }

  async *entries(skip = 0): AsyncGenerator<TreeEntry> {
    const { counts, output } = await this.#known()
    let left = skip
    for (const kind of KINDS) {
      if (left < counts[kind]) yield* output ? this.#inOutput(output, kind, left) : this.#ofKind(kind, left)
      left = Math.max(0, left - counts[kind])
    }
  }

  /** Of all entries with this id. */
  async positionsOf(id: string): Promise<number[]> {
    const { counts, output } = await this.#known()
    const wanted = Buffer.from(id, 'latin1')
    const found: Record<Kind, number[]> = { tree: [], blob: [], commit: [] }
    const seen = { tree: 0, blob: 0, commit: 0 }
    const look = (bytes: Buffer, start: number, kind: Kind) => {
      if (hasId(bytes, start, kind, wanted)) found[kind].push(seen[kind])
      seen[kind]++
    }
    if (output) for (const kind of KINDS) for (const start of output.starts[kind]) look(output.bytes, start, kind)
    else for await (const lines of this.#lines()) for (const line of lines) look(line, 0, kindAt(line, 0))
    const before = { tree: 0, blob: counts.tree, commit: counts.tree + counts.blob }
    return KINDS.flatMap((kind) => found[kind].map((position) => before[kind] + position))
  }

  #known(): Promise<Known> {
    return known.recall(this.#dir, `${this.#tree} ${this.#recursive}`, async () => {
      const counts = { tree: 0, blob: 0, commit: 0 }
      let kept: Buffer[] | null = []
      let bytes = 0
      for await (const lines of this.#lines()) {
        for (const line of lines) {
          counts[kindAt(line, 0)]++
          bytes += line.length + 1
        }
        if (bytes > MOST_OUTPUT) kept = null
        else kept?.push(...lines.flatMap((line) => [line, END]))
      }
      return { counts, output: kept && outputOf(Buffer.concat(kept), counts) }
    })
  }

  *#inOutput({ bytes, starts }: Output, kind: Kind, skip: number): Generator<TreeEntry> {
    for (const start of starts[kind].subarray(skip)) yield this.#parse(bytes.subarray(start, bytes.indexOf(0, start)))
  }

  async *#ofKind(kind: Kind, skip: number): AsyncGenerator<TreeEntry> {
    let left = skip
    for await (const lines of this.#lines()) {
      for (const line of lines) if (kindAt(line, 0) === kind && --left < 0) yield this.#parse(line)
    }
  }

  async *#lines(): AsyncGenerator<Buffer[]> {
    const depth = this.#recursive ? (['-r', '-t'] as const) : []
    const stream = gitStream(this.#dir, ['ls-tree', ...depth, '-z', '--end-of-options', rev(this.#tree)])
    let walked = 0
    for await (const lines of pieces(stream, 0)) {
      yield lines.slice(0, MOST_WALKED - walked)
      if ((walked += lines.length) >= MOST_WALKED) return
    }
  }

  #parse(line: Buffer): TreeEntry {
    const tab = line.indexOf(TAB)
    const [mode, , id] = line.toString('latin1', 0, tab).split(' ')
    const path = textOf(line.subarray(tab + 1))
    return {
      mode: mode!,
      type: typeOf(mode!),
      id: id!,
      name: path.slice(path.lastIndexOf('/') + 1),
      path: this.#prefix + path,
    }
  }
}

const TAB = 9
const END = Buffer.from([0])

function outputOf(bytes: Buffer, counts: ByKind<number>): Output {
  const [tree, blob, commit] = KINDS.map((kind) => new Uint32Array(counts[kind])) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ]
  const starts = { tree, blob, commit }
  const next = { tree: 0, blob: 0, commit: 0 }
  for (let start = 0; start < bytes.length; start = bytes.indexOf(0, start) + 1) {
    const kind = kindAt(bytes, start)
    starts[kind][next[kind]++] = start
  }
  return { bytes, starts }
}

/**
 * Lists one level or all levels: an array in git's order if there are few entries. Null under the same conditions as
 * `listTree`.
 */
export async function openListing(
  dir: string,
  name: string,
  path: string,
  { recursive }: { recursive: boolean },
): Promise<TreeEntry[] | LongListing | null> {
  const found = await listFew(dir, name, path, { recursive })
  return found === null || Array.isArray(found) ? found : new LongListing(dir, found.tree, found.prefix, recursive)
}

const TYPE_AT = '100644 '.length
const BY_LETTER: Readonly<Record<number, Kind>> = { 116: 'tree', 98: 'blob', 99: 'commit' }

const kindAt = (bytes: Buffer, start: number): Kind => BY_LETTER[bytes[start + TYPE_AT]!] ?? 'blob'

function hasId(bytes: Buffer, start: number, kind: Kind, id: Buffer): boolean {
  const at = start + TYPE_AT + kind.length + 1
  const end = at + id.length
  return bytes[at] === id[0] && bytes[end] === TAB && bytes.compare(id, 0, id.length, at, end) === 0
}
