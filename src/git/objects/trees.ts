/**
 * What a commit holds: files and folders by name. Folders are read object by object and their names compared here, so a
 * path may be any text at all and is never given to git. A name that is not UTF-8 is told with replacement characters,
 * and found by that very spelling.
 */
import { rev, type Ref, type Rev } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { readObject, type QuarantineOptions } from './objects.ts'
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

/** The topmost level, in git's order. */
export async function rootEntries(dir: string, of: Rev | Ref): Promise<TreeEntry[]> {
  const entries = await listTree(dir, of)
  if (!entries) throw new GitFailed('cat-file', 'exit', null, 'no such tree')
  return entries
}

export const isFile = ({ mode }: TreeEntry): boolean => mode.startsWith('100')

/** One level, or all below, in git's order; null when there is no such commit, or no such folder in it. */
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

/** The file, folder or submodule at a path; the root has no entry. */
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
  return parseTree(tree.content, prefix).find((entry) => entry.name === last) ?? null
}

/** Slashes around it, and twice in a row, mean nothing. */
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
  let tree = await readTree(dir, name, options)
  for (const part of parts) {
    const entry = tree && parseTree(tree.content).find((entry) => entry.name === part)
    if (entry?.type !== 'tree') return null
    tree = await readTree(dir, entry.id, options)
  }
  return tree
}

async function readTree(dir: string, name: string, options: QuarantineOptions): Promise<Tree | null> {
  const tree = await readObject(dir, name, { ...options, as: 'tree', maxBytes: MAX_TREE })
  if (tree && !tree.content) throw new GitFailed('cat-file', 'output', null, '')
  return tree && { id: tree.id, content: tree.content! }
}

const ID_BYTES = 20

/** What is no tree is refused: git itself would stop at it. */
export function parseTree(content: Buffer, prefix = ''): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at)
    const end = content.indexOf(0, at)
    if (space < 0 || end < space) throw new GitFailed('cat-file', 'output', null, 'broken tree')
    const mode = content.toString('latin1', at, space).padStart(6, '0')
    const name = textOf(content.subarray(space + 1, end))
    at = end + 1 + ID_BYTES
    const id = content.toString('hex', end + 1, at)
    entries.push({ mode, type: typeOf(mode), id, name, path: prefix + name })
  }
  return entries
}

function typeOf(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

async function listAll(dir: string, id: string, prefix: string, options: QuarantineOptions): Promise<TreeEntry[]> {
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
