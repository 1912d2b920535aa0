/** Measures the changes of a merge request from its commits. */
import { createHash } from 'node:crypto'
import { diffBetween, HARD_LIMITS, type Diff, type FileDiff } from '../../../git/history/diffs.ts'
import { listCommitIds, mergeBase } from '../../../git/history/history.ts'
import type { Version } from './model.ts'

export interface Measured extends Pick<
  Version,
  'head_sha' | 'base_sha' | 'start_sha' | 'files' | 'overflow' | 'patch_id'
> {
  /** Commit ids, newest first. */
  readonly commits: readonly string[]
}

/** Further commits are not stored. */
export const MOST_COMMITS = 1000

/**
 * Measures a head of this repository against the tip of the target branch. `target` is null if the branch does not
 * exist.
 */
export async function measure(dir: string, head: string, target: string | null): Promise<Measured> {
  const base = target === null ? null : await mergeBase(dir, [head, target])
  const ends = { head_sha: head, base_sha: base, start_sha: target }
  const range = rangeOf(ends)
  if (!range) return { ...ends, files: 0, overflow: false, patch_id: null, commits: [] }
  const [diff, commits] = await Promise.all([
    changesBetween(dir, range.base, head),
    listCommitIds(dir, { ...range.commits, limit: MOST_COMMITS }),
  ])
  if (!diff) return { ...ends, files: 0, overflow: false, patch_id: null, commits }
  return { ...ends, files: diff.files.length, overflow: diff.overflow, patch_id: patchIdOf(diff), commits }
}

export type Ends = Pick<Version, 'head_sha' | 'base_sha' | 'start_sha'>

/** The range between both ends; null if it is empty. Commits that the target already contains are excluded. */
export function rangeOf({ head_sha, base_sha, start_sha }: Ends) {
  if (head_sha === null || base_sha === null || head_sha === base_sha) return null
  return { base: base_sha, head: head_sha, commits: { from: head_sha, not: [start_sha ?? base_sha] } }
}

export const changesBetween = (dir: string, base: string, head: string): Promise<Diff | null> =>
  diffBetween(dir, base, head, { limits: HARD_LIMITS })

/** The value in API records. */
export const changesCount = ({ files, overflow }: Pick<Measured, 'files' | 'overflow'>): string | null =>
  files === 0 ? null : `${files}${overflow ? '+' : ''}`

/** Equal for equal changes at other line numbers. Null if the diff is incomplete. */
function patchIdOf({ files, overflow }: Diff): string | null {
  if (overflow || files.some(({ tooLarge, collapsed, binary }) => tooLarge || collapsed || binary)) return null
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${JSON.stringify(factsOf(file))}\n${withoutPositions(file.patch)}`)
  return hash.digest('hex')
}

const factsOf = ({ oldPath, newPath, aMode, bMode }: FileDiff) => [oldPath, newPath, aMode, bMode]

const withoutPositions = (patch: string) => patch.replaceAll(/^@@ .*$/gm, '@@')
