/**
 * Compares two versions of a merge request. If their bases differ, the older version is first rebased onto the newer
 * base. Changes of the base are then on both sides and do not show.
 */
import { HARD_LIMITS, diffBetween, type Diff } from '../../../git/history/diffs.ts'
import { patchIdsOf } from '../../../git/history/patch-ids.ts'
import { mergeCommits, type Conflict } from '../../../git/merging/merging.ts'
import { BadChange, buildTree, type Change, type FileMode } from '../../../git/objects/building.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { VersionComparison } from './entity.ts'
import type { Ends } from './measure.ts'
import type { Version } from './model.ts'
import { allCommits } from './queries.ts'

export async function compareVersions(
  dir: string,
  from: Version,
  to: Version,
  { ignoreSpaces = false } = {},
): Promise<VersionComparison> {
  const [carried, before, after] = await Promise.all([carry(dir, from, to), allCommits(dir, from), allCommits(dir, to)])
  const [diff, matched] = await Promise.all([
    diffOf(dir, carried.tree, to.head_sha, ignoreSpaces),
    match(dir, before.commits, after.commits),
  ])
  const { rebased, conflicts } = carried
  return { from, to, rebased, conflicts, ...matched, diff, overflow: diff.overflow || before.isCut || after.isCut }
}

interface Carried {
  /** A commit or a tree id. Null if none exists. */
  readonly tree: string | null
  readonly rebased: boolean
  readonly conflicts: ReadonlySet<string>
}

async function carry(dir: string, from: Ends, to: Ends): Promise<Carried> {
  const [head, base, onto] = [from.head_sha, from.base_sha, to.base_sha]
  const asItIs = { tree: head, conflicts: new Set<string>() }
  if (head === null || base === null || onto === null || base === onto) return { ...asItIs, rebased: false }
  const { tree, conflicts, marked } = await mergeCommits(dir, { ours: onto, theirs: head, base })
  if (tree !== undefined) return { tree, conflicts: asItIs.conflicts, rebased: true }
  const paths = new Set(conflicts.map(({ path }) => path))
  return { tree: await withoutMarks(dir, marked, conflicts), conflicts: paths, rebased: true }
}

/** Replaces files with conflict markers by their content in the older version. */
async function withoutMarks(dir: string, marked: string, conflicts: readonly Conflict[]): Promise<string> {
  const changes = conflicts.flatMap(({ path, theirs, ours }): Change[] => {
    if (theirs) return [{ path, id: theirs.id, mode: theirs.mode as FileMode }]
    return ours ? [{ path, content: null }] : []
  })
  return buildTree(dir, marked, changes).catch((error: unknown) => {
    // Git renames a file where the other side has a folder of that name: such a tree stays as it is.
    if (error instanceof BadChange) return marked
    throw error
  })
}

const NOTHING: Diff = { files: [], overflow: false }

async function diffOf(dir: string, from: string | null, to: string | null, ignoreSpaces: boolean): Promise<Diff> {
  if (from === null || to === null) return NOTHING
  return (await diffBetween(dir, from, to, { limits: HARD_LIMITS, ignoreSpaces })) ?? NOTHING
}

/** Matches commits by id, then by patch id. */
async function match(dir: string, before: readonly Commit[], after: readonly Commit[]) {
  const known = new Set(after.map(({ id }) => id))
  const same = new Set(before.filter(({ id }) => known.has(id)).map(({ id }) => id))
  const [gone, come] = [before, after].map((commits) => commits.filter(({ id }) => !same.has(id)))
  const patches = await patchIdsOf(
    dir,
    [...gone!, ...come!].map(({ id }) => id),
  )
  const byPatch = new Map(gone!.flatMap(({ id }) => (patches.has(id) ? [[patches.get(id)!, id] as const] : [])))
  const pairs = new Map<string, string>()
  for (const { id } of come!) {
    const patch = patches.get(id)
    const other = patch === undefined ? undefined : byPatch.get(patch)
    if (patch === undefined || other === undefined) continue
    pairs.set(id, other)
    byPatch.delete(patch)
  }
  const paired = new Set(pairs.values())
  return {
    added: come!.filter(({ id }) => !pairs.has(id)),
    removed: gone!.filter(({ id }) => !paired.has(id)),
    kept: after.flatMap(({ id }) => {
      const from = same.has(id) ? id : pairs.get(id)
      return from === undefined ? [] : [{ from, to: id }]
    }),
  }
}
