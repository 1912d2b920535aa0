/**
 * A listing of a very large folder, read from git on demand: folders first, then files, then submodules. A few trees
 * can produce an endless listing, so it stops after a million entries.
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
type Counts = Readonly<Record<Kind, number>>

const counted = new Memory<Counts>(1024 * 1024)

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
    const counts = await this.#counts()
    return KINDS.reduce((sum, kind) => sum + counts[kind], 0)
  }

  async *entries(skip = 0): AsyncGenerator<TreeEntry> {
    const counts = await this.#counts()
    let left = skip
    for (const kind of KINDS) {
      if (left < counts[kind]) yield* this.#ofKind(kind, left)
      left = Math.max(0, left - counts[kind])
    }
  }

  async #counts(): Promise<Counts> {
    return counted.recall(this.#dir, `${this.#tree} ${this.#recursive}`, async () => {
      const counts = { tree: 0, blob: 0, commit: 0 }
      for await (const lines of this.#lines()) for (const line of lines) counts[kindOf(line)]++
      return counts
    })
  }

  async *#ofKind(kind: Kind, skip: number): AsyncGenerator<TreeEntry> {
    let left = skip
    for await (const lines of this.#lines()) {
      for (const line of lines) if (kindOf(line) === kind && --left < 0) yield this.#parse(line)
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

  /** `<mode> <type> <id>\t<path>` */
  #parse(line: Buffer): TreeEntry {
    const tab = line.indexOf(9)
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

const kindOf = (line: Buffer): Kind => BY_LETTER[line[TYPE_AT]!] ?? 'blob'
