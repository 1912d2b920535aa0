/**
 * Reads the files and folders of a commit by name. Reads folders object by object and compares the names here, so that
 * a path may be any text and never reaches git. A name that is not UTF-8 is shown with replacement characters, and
 * found by exactly that spelling.
 */
import { rev, type Ref, type Rev } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { isObjectId } from './ids.ts'
import { Memory } from './memory.ts'
import { areWithheld } from './withheld.ts'
import { objectInfo, readKnown, type QuarantineOptions } from './objects.ts'
import { textOf } from './texts.ts'

export interface TreeEntry {
  /** Six digits. */
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  readonly name: string
  readonly path: string
}

const MAX_TREE = 16 * 1024 * 1024
const MAX_LISTING = 64 * 1024 * 1024

/** The root folder, in git's order. */
export async function rootEntries(dir: string, of: Rev | Ref): Promise<TreeEntry[]> {
  const entries = await listTree(dir, of)
  if (!entries) throw new GitFailed('cat-file', 'exit', null, 'no such tree')
  return entries
}

export const isFile = ({ mode }: TreeEntry): boolean => mode.startsWith('100')

/** One level or all levels, in git's order. Null if the commit does not exist or has no such folder. */
export async function listTree(
  dir: string,
  name: string,
  path = '',
  { recursive = false, ...options }: { recursive?: boolean } & QuarantineOptions = {},
): Promise<TreeEntry[] | null> {
  const parts = partsOf(path)
  const tree = await treeAt(dir, name, parts, options)
  if (!tree) return null
  const prefix = parts.map((part) => `${part}/`).join('')
  return recursive ? listAll(dir, tree.id, prefix, options) : parseTree(tree.content, prefix)
}

/** The file, folder or submodule at a path. The root has no entry. */
export async function entryAt(
  dir: string,
  name: string,
  path: string,
  options: QuarantineOptions = {},
): Promise<TreeEntry | null> {
  const parts = partsOf(path)
  const last = parts.pop()
  const tree = last === undefined ? null : await treeAt(dir, name, parts, options)
  if (!tree) return null
  const prefix = parts.map((part) => `${part}/`).join('')
  return findEntry(tree.content, last!, prefix)
}

/** Ignores outer and repeated slashes. */
export const partsOf = (path: string) => path.split('/').filter((part) => part !== '')

interface Tree {
  readonly id: string
  readonly content: Buffer
}

async function treeAt(
  dir: string,
  name: string,
  parts: readonly string[],
  options: QuarantineOptions,
): Promise<Tree | null> {
  const root = await rootOf(dir, name, options)
  let tree = root === null ? null : await readTree(dir, root, options)
  for (const part of parts) {
    const entry = tree && findEntry(tree.content, part)
    if (entry?.type !== 'tree') return null
    tree = await readTree(dir, entry.id, options)
  }
  return tree
}

const roots = new Memory<string>('root trees')

/** The id of the tree of a commit or a tag. */
export async function rootOf(dir: string, name: string, options: QuarantineOptions): Promise<string | null> {
  if (!options.environment && (await areWithheld(dir, [name]))[0]) return null
  const isLasting = isObjectId(name) && !options.environment
  const known = isLasting ? roots.get(dir, name) : undefined
  if (known !== undefined) return known
  const root = (await objectInfo(dir, name, { ...options, as: 'tree' }))?.id ?? null
  if (isLasting && root !== null) roots.set(dir, name, root)
  return root
}

/** By the id of the tree itself. */
export async function readTree(dir: string, id: string, options: QuarantineOptions = {}): Promise<Tree | null> {
  const [tree] = await readKnown(dir, [id], { ...options, maxBytes: MAX_TREE })
  if (tree?.type !== 'tree') return null
  if (!tree.content) throw new GitFailed('cat-file', 'output', null, '')
  return { id, content: tree.content }
}

const ID_BYTES = 20

/** Rejects invalid trees, at which git itself would stop. */
export function parseTree(content: Buffer, prefix = ''): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length;) {
    const bounds = boundsAt(content, at)
    entries.push(parseEntry(content, bounds, prefix))
    at = bounds.end
  }
  return entries
}

/** Finds one entry without parsing the others, because a folder may have thousands. */
export function findEntry(content: Buffer, name: string, prefix = ''): TreeEntry | null {
  const bytes = Buffer.from(name)
  for (let at = 0; at < content.length;) {
    const bounds = boundsAt(content, at)
    // A name that is not UTF-8 is only known by its replaced spelling.
    const mayBe = name.includes('\uFFFD') || bytes.compare(content, bounds.name, bounds.nul) === 0
    const entry = mayBe ? parseEntry(content, bounds, prefix) : null
    if (entry?.name === name) return entry
    at = bounds.end
  }
  return null
}

/** `<mode> <name>\0<id>`: the start of each part. */
interface Scope {
  readonly mode: number
  readonly name: number
  readonly nul: number
  readonly end: number
}

function boundsAt(content: Buffer, at: number): Scope {
  const space = content.indexOf(32, at)
  const nul = content.indexOf(0, at)
  if (space < 0 || nul < space) throw new GitFailed('cat-file', 'output', null, 'broken tree')
  return { mode: at, name: space + 1, nul, end: nul + 1 + ID_BYTES }
}

function parseEntry(content: Buffer, bounds: Scope, prefix: string): TreeEntry {
  const mode = content.toString('latin1', bounds.mode, bounds.name - 1).padStart(6, '0')
  const name = textOf(content.subarray(bounds.name, bounds.nul))
  const id = content.toString('hex', bounds.nul + 1, bounds.end)
  return { mode, type: typeOf(mode), id, name, path: prefix + name }
}

export function typeOf(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

/** Null for a folder with more entries than are gathered. */
const listings = new Memory<TreeEntry[] | null>('listings of folders', (entries) =>
  (entries ?? []).reduce((sum, { path }) => sum + 250 + 2 * path.length, 0),
)

async function listAll(dir: string, id: string, prefix: string, options: QuarantineOptions): Promise<TreeEntry[]> {
  const few = options.environment ? null : await fewBelow(dir, id, prefix)
  return few ?? askForAll(dir, id, prefix, options)
}

/** All entries below, unless there are many. */
const fewBelow = (dir: string, id: string, prefix: string): Promise<TreeEntry[] | null> =>
  listings.recall(dir, `${id}\0${prefix}`, () => gatherAll(dir, id, prefix))

/** The maximum size of a folder that is read at once. */
const MOST_AT_ONCE = 1024 * 1024

/** Like `listTree`. For a larger listing, only the id of the tree. */
export async function listFew(
  dir: string,
  name: string,
  path: string,
  { recursive }: { recursive: boolean },
): Promise<TreeEntry[] | { readonly tree: string; readonly prefix: string } | null> {
  const parts = partsOf(path)
  const found = await treeAt(dir, name, parts, {})
  if (!found) return null
  const { id: tree, content } = found
  const prefix = parts.map((part) => `${part}/`).join('')
  if (recursive) return (await fewBelow(dir, tree, prefix)) ?? { tree, prefix }
  return content.length <= MOST_AT_ONCE ? parseTree(content, prefix) : { tree, prefix }
}

/** Beyond these limits git is faster and stops better. */
const MOST_GATHERED = { trees: 2000, levels: 50, entries: 20_000, treeBytes: 256 * 1024, levelBytes: 4 * 1024 * 1024 }

/**
 * Reads tree by tree, because most trees are cached even if the root has changed. Goes level by level, so that one read
 * covers each level.
 */
async function gatherAll(dir: string, root: string, prefix: string): Promise<TreeEntry[] | null> {
  const trees = new Map<string, TreeEntry[]>()
  const limits = { maxBytes: MOST_GATHERED.treeBytes, maxTotal: MOST_GATHERED.levelBytes }
  let entries = 0
  for (let [level, pending] = [0, [root]]; pending.length > 0; level++) {
    if (level === MOST_GATHERED.levels || trees.size + pending.length > MOST_GATHERED.trees) return null
    const objects = await readKnown(dir, pending, limits)
    for (const [n, object] of objects.entries()) {
      if (object?.type !== 'tree' || !object.content) return null
      const found = parseTree(object.content).map(canonical)
      trees.set(pending[n]!, found)
      if ((entries += found.length) > MOST_GATHERED.entries) return null
    }
    const below = pending.flatMap((id) =>
      trees
        .get(id)!
        .filter(({ type }) => type === 'tree')
        .map(({ id }) => id),
    )
    pending = [...new Set(below)].filter((id) => !trees.has(id))
  }
  return spread(trees, root, prefix)
}

/** The same tree may occur at many paths, so a few trees can produce an endless listing. */
function spread(trees: ReadonlyMap<string, TreeEntry[]>, root: string, prefix: string): TreeEntry[] | null {
  const all: TreeEntry[] = []
  const add = (id: string, prefix: string): boolean =>
    trees.get(id)!.every((entry) => {
      const path = prefix + entry.name
      all.push({ ...entry, path })
      return all.length <= MOST_GATHERED.entries && (entry.type !== 'tree' || add(entry.id, `${path}/`))
    })
  return add(root, prefix) ? all : null
}

/** As git reads it: old tools wrote other modes, mostly `100664`. */
export function canonical(entry: TreeEntry): TreeEntry {
  const mode = canonicalMode(Number.parseInt(entry.mode, 8))
  return { ...entry, mode, type: typeOf(mode) }
}

function canonicalMode(bits: number): string {
  const kind = bits & 0o170000
  if (kind === 0o100000) return bits & 0o100 ? '100755' : '100644'
  if (kind === 0o120000) return '120000'
  return kind === 0o040000 ? '040000' : '160000'
}

async function askForAll(
  dir: string,
  id: string,
  prefix: string,
  options: QuarantineOptions = {},
): Promise<TreeEntry[]> {
  const listing = await git(dir, ['ls-tree', '-r', '-t', '-z', '--end-of-options', rev(id)], {
    ...options,
    maxOutput: MAX_LISTING,
  })
  return [...listing.matchAll(/(\d+) \w+ ([0-9a-f]+)\t([^\0]+)\0/g)].map(([, mode, id, path]) => ({
    mode: mode!,
    type: typeOf(mode!),
    id: id!,
    name: path!.slice(path!.lastIndexOf('/') + 1),
    path: prefix + path!,
  }))
}
