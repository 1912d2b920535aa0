/**
 * Computes merges, cherry-picks and reverts on objects only: without a working copy or an index, and without moving a
 * ref. The result is a tree for the caller to commit, or the list of conflicting files.
 */
import { MINUTE } from '../../clock.ts'
import { rev } from '../process/arguments.ts'
import { signature, writeCommit, type Signer } from '../objects/building.ts'
import { git, GitFailed } from '../process/command.ts'
import { parseHeaders } from '../objects/headers.ts'
import { writeObject } from '../objects/loose.ts'
import { objectInfos, readObject } from '../objects/objects.ts'

export interface Side {
  readonly mode: string
  readonly id: string
}

/** A file on each side. Null if a side does not have it. */
export interface Conflict {
  readonly path: string
  readonly base: Side | null
  readonly ours: Side | null
  readonly theirs: Side | null
}

export type MergeResult =
  | { readonly tree: string; readonly conflicts?: undefined; readonly marked?: undefined }
  | {
      readonly tree?: undefined
      readonly conflicts: readonly Conflict[]
      /** A tree anyway, with conflict markers in the conflicting files. */
      readonly marked: string
    }

/** The commits have no common ancestor. */
export class UnrelatedHistories extends Error {
  constructor() {
    super('these histories have nothing in common')
    this.name = 'UnrelatedHistories'
  }
}

const MERGE_DEADLINE = 2 * MINUTE

/** No file may use up the memory of the machine. */
export const MERGING = { environment: { GIT_ALLOC_LIMIT: '512m' } }

/** All by id: two commits, and optionally a commit or tree to use as their common ancestor instead of the real one. */
export async function mergeCommits(
  dir: string,
  { ours, theirs, base }: { ours: string; theirs: string; base?: string },
): Promise<MergeResult> {
  if (base === undefined) return mergeTrees(dir, ours, theirs)
  const [a, b, root] = await treesOf(dir, [ours, theirs, base])
  return mergeFrom(dir, root!, a!, b!)
}

/**
 * Null if `onto` already has all of the change. For a merge, takes the change relative to the parent `mainline`; the
 * first parent is 1.
 */
export async function cherryPick(dir: string, input: PickInput): Promise<MergeResult | null> {
  return pick(dir, await treesOfPick(dir, input))
}

const pick = async (dir: string, { own, parent, onto }: PickTrees) =>
  unless(onto, await mergeFrom(dir, parent, onto, own))

/** Null if `onto` has nothing of the change left. */
export async function revertCommit(dir: string, input: PickInput): Promise<MergeResult | null> {
  const { own, parent, onto } = await treesOfPick(dir, input)
  return unless(onto, await mergeFrom(dir, own, onto, parent))
}

export interface PickInput {
  readonly commit: string
  readonly onto: string
  readonly mainline?: number
}

const MAX_COMMITS = 1000

export type RebaseResult =
  | { readonly head: string; readonly conflicts?: undefined }
  | { readonly head?: undefined; readonly conflicts: readonly Conflict[]; readonly commit: string }

/**
 * Recreates the commits that `from` has and `onto` lacks on top of `onto`. Skips merges, commits whose change `onto`
 * already has under another id, and commits that become empty. A commit that was empty from the start stays. Null if
 * `from` is already based on `onto`. Authors and messages stay byte for byte.
 */
export async function rebaseCommits(
  dir: string,
  { from, onto, committer }: { from: string; onto: string; committer: Signer },
): Promise<RebaseResult | null> {
  const listed = await git(
    dir,
    ['rev-list', '--reverse', '--topo-order', '--parents', '--cherry-mark', '--right-only', '--stdin'],
    { input: `${rev(onto)}...${rev(from)}\n`, deadline: MERGE_DEADLINE },
  )
  const commits = listed.split('\n').flatMap((line) => {
    const [marked = '', ...parents] = line.split(' ')
    return marked ? [{ id: marked.slice(1), isKnown: marked.startsWith('='), parents }] : []
  })
  if (commits.length > MAX_COMMITS) throw new RangeError('too many commits')
  const isOnTop = commits.every(({ parents }, n) => parents.length === 1 && parents[0] === (commits[n - 1]?.id ?? onto))
  if (from === onto || (commits.length > 0 && isOnTop)) return null

  let head = onto
  for (const { id, parents, isKnown } of commits) {
    if (parents.length > 1) continue
    const trees = await treesOfPick(dir, { commit: id, onto: head })
    const isEmpty = trees.own === trees.parent
    if (isKnown && !isEmpty) continue
    const picked = isEmpty ? { tree: trees.onto } : await pick(dir, trees)
    if (picked?.conflicts) return { conflicts: picked.conflicts, commit: id }
    if (picked) head = await remake(dir, id, { tree: picked.tree, parent: head, committer })
  }
  return { head }
}

/** The same commit with another parent. Its signature is dropped, because it covered the old commit. */
async function remake(
  dir: string,
  id: string,
  { tree, parent, committer }: { tree: string; parent: string; committer: Signer },
): Promise<string> {
  const commit = await readObject(dir, id, { as: 'commit' })
  if (!commit?.content) throw new TypeError('not a commit of this repository')
  const { headers, body } = parseHeaders(commit.content)
  const written = (name: string) => headers.filter((header) => header.name === name).map((header) => header.written)
  return writeObject(
    dir,
    'commit',
    Buffer.concat([
      Buffer.from(`tree ${tree}\nparent ${parent}\n`),
      ...written('author'),
      Buffer.from(`committer ${signature(committer)}\n`),
      ...written('encoding'),
      Buffer.from('\n'),
      body,
    ]),
  )
}

interface PickTrees {
  readonly own: string
  readonly parent: string
  readonly onto: string
}

async function treesOfPick(dir: string, { commit, onto, mainline = 1 }: PickInput): Promise<PickTrees> {
  const object = await readObject(dir, commit, { as: 'commit' })
  if (!object?.content) throw new TypeError('not a commit of this repository')
  const parents = parseHeaders(object.content).headers.filter(({ name }) => name === 'parent')
  const parent = parents[mainline - 1]?.value.toString('latin1')
  if (parent === undefined && (mainline !== 1 || parents.length > 0)) throw new RangeError('no such parent')
  const [own, target, before] = await treesOf(dir, [commit, onto, ...(parent === undefined ? [] : [parent])])
  return { own: own!, onto: target!, parent: before ?? (await writeObject(dir, 'tree', '')) }
}

async function treesOf(dir: string, names: readonly string[]): Promise<string[]> {
  const infos = await objectInfos(dir, names, { as: 'tree' })
  return infos.map((info) => {
    if (!info) throw new TypeError('not a commit or tree of this repository')
    return info.id
  })
}

const unless = (tree: string, result: MergeResult) => (result.tree === tree ? null : result)

const NOBODY: Signer = { name: 'Mortise', email: 'mortise@localhost', date: new Date(0) }

/**
 * Before git 2.40 a merge takes no base option and finds the base itself. These helper commits have the wanted trees
 * and no other ancestor. Their ids depend on the trees only, so there are never more of them than distinct merges.
 */
async function mergeFrom(dir: string, base: string, ours: string, theirs: string): Promise<MergeResult> {
  if (ours === theirs || base === theirs) return { tree: ours }
  if (base === ours) return { tree: theirs }
  const standIn = (tree: string, parents: string[]) =>
    writeCommit(dir, { tree, parents, message: '', author: NOBODY, committer: NOBODY })
  const root = await standIn(base, [])
  const [a, b] = await Promise.all([standIn(ours, [root]), standIn(theirs, [root])])
  return mergeTrees(dir, a, b)
}

async function mergeTrees(dir: string, ours: string, theirs: string): Promise<MergeResult> {
  const output = await git(dir, ['merge-tree', '--write-tree', '--stdin', '--no-messages'], {
    input: `${rev(ours)} ${rev(theirs)}\n`,
    deadline: MERGE_DEADLINE,
    ...MERGING,
  }).catch((error: unknown) => {
    const isUnrelated = error instanceof GitFailed && /unrelated histories/.test(error.stderr)
    throw isUnrelated ? new UnrelatedHistories() : error
  })
  const [status, tree = '', ...files] = output.split('\0').filter(Boolean)
  // A folder that was renamed in two ways is a conflict without a conflicting file, so the list alone is not enough.
  return status === '1' ? { tree } : { conflicts: conflictsOf(files), marked: tree }
}

const STAGES = { 1: 'base', 2: 'ours', 3: 'theirs' } as const

/** `<mode> <id> <stage>\t<path>`, one line for each side that has the file. */
export function conflictsOf(lines: readonly string[]): Conflict[] {
  const conflicts = new Map<string, { -readonly [K in keyof Conflict]: Conflict[K] }>()
  for (const line of lines) {
    const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(line) ?? []
    if (!mode || !id || !path) continue
    const conflict = conflicts.get(path) ?? { path, base: null, ours: null, theirs: null }
    conflict[STAGES[Number(stage) as 1 | 2 | 3]] = { mode, id }
    conflicts.set(path, conflict)
  }
  return [...conflicts.values()]
}
