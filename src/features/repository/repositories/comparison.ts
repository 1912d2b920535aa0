import { join } from 'node:path'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { HARD_LIMITS, diffBetween, type Diff } from '../../../git/history/diffs.ts'
import { listCommits, mergeBase } from '../../../git/history/history.ts'
import type { QuarantineOptions } from '../../../git/objects/objects.ts'
import type { Comparison } from './entity.ts'
import { repositoryPolicy } from './policy.ts'
import { findRepositorySubject } from './queries.ts'

const MOST_COMMITS = 5000
const NO_DIFF: Diff = { files: [], overflow: false }

export interface CompareOptions {
  readonly from: string
  readonly to: string
  /** Compares the two commits directly, not from their merge base. */
  readonly straight: boolean
  /** The repository of `from`, if it is another one. */
  readonly fromDir?: string | undefined
  /** Ignores whitespace changes. */
  readonly ignoreSpaces?: boolean
}

export async function compare(
  dir: string,
  { from, to, straight, fromDir = dir, ignoreSpaces = false }: CompareOptions,
): Promise<Comparison> {
  const [start, end] = [await resolveCommit(fromDir, from), await resolveCommit(dir, to)]
  if (!start || !end) throw notFound('Ref')
  // One git process sees the objects of both repositories.
  const both: QuarantineOptions =
    fromDir === dir ? {} : { environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(fromDir, 'objects') } }
  const commits = await listCommits(dir, { from: end, not: [start], limit: MOST_COMMITS, ...both })
  const base = straight ? start : await mergeBase(dir, [start, end], both)
  const input = { limits: HARD_LIMITS, beyond: 'collapse', ignoreSpaces, ...both } as const
  const diff = base === null ? null : await diffBetween(dir, base, end, input)
  return { from, to, commits: commits.toReversed(), diff: diff ?? NO_DIFF, isSame: start === end }
}

/** The repository of another project, if the viewer may read its code. */
export async function repositoryOf(app: App, viewer: User | null, id: number): Promise<string> {
  const other = await findRepositorySubject(app, String(id), viewer)
  if (!other || !repositoryPolicy.read(other) || !repositoryPolicy.download(other)) throw notFound('Project')
  return other.dir
}
