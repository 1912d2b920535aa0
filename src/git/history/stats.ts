/** Statistics of commits: changed lines, and commits per author. At most one process each. */
import { MINUTE } from '../../clock.ts'
import type { LineChanges } from '../../lib/text/line-changes.ts'
import { git } from '../process/command.ts'
import { findCommits, type Commit } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import type { QuarantineOptions } from '../objects/objects.ts'
import { listAuthors } from './history.ts'
import { countSmall } from './small-stats.ts'

export type LineStats = LineChanges

/** Compared with the first parent; a root commit with an empty tree. By commit id, without unknown ones. */
export async function commitStats(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<Map<string, LineStats>> {
  const commits = (await findCommits(dir, names, options)).filter((commit) => commit !== null)
  if (options.environment) return countLines(dir, commits, options)
  const stats = new Map(commits.map(({ id }) => [id, remembered.get(dir, id)]))
  const unknown = commits.filter(({ id }) => !stats.get(id))
  for (const [id, counted] of await countNew(dir, unknown)) {
    remembered.set(dir, id, counted)
    stats.set(id, counted)
  }
  return stats as Map<string, LineStats>
}

const remembered = new Memory<LineStats>('changed lines of commits')

/** For many commits a process is cheaper. */
const FEW = 5

async function countNew(dir: string, commits: readonly Commit[]): Promise<Map<string, LineStats>> {
  if (commits.length > FEW) return countLines(dir, commits)
  const counted = await Promise.all(commits.map((commit) => countSmall(dir, commit)))
  const known = commits.flatMap(({ id }, n): [string, LineStats][] => (counted[n] ? [[id, counted[n]]] : []))
  const others = commits.filter((_, n) => !counted[n])
  return new Map([...known, ...(await countLines(dir, others))])
}

export async function countLines(
  dir: string,
  commits: readonly Commit[],
  options: QuarantineOptions = {},
): Promise<Map<string, LineStats>> {
  const stats = new Map<string, LineStats>(commits.map(({ id }) => [id, { additions: 0, deletions: 0 }]))
  if (commits.length === 0) return stats
  const output = await git(dir, ['diff-tree', '--stdin', '-r', '--root', '-M', '--shortstat'], {
    ...options,
    input: commits.map(({ id, parents }) => `${[id, ...parents.slice(0, 1)].join(' ')}\n`).join(''),
    deadline: MINUTE / 2,
  })
  for (const [, id, numbers = ''] of output.matchAll(/^([0-9a-f]{40})\n( .*)?/gm)) {
    const numberOf = (pattern: RegExp) => Number(pattern.exec(numbers)?.[1] ?? 0)
    stats.set(id!, { additions: numberOf(/(\d+) insertion/), deletions: numberOf(/(\d+) deletion/) })
  }
  return stats
}

export interface Contributor {
  /** The name in the newest of the commits. */
  readonly name: string
  readonly email: string
  readonly commits: number
}

const CONTRIBUTOR_COMMITS = 2000

/** Contributors of the last commits without merges, by email. The author of the newest commit comes first. */
export async function listContributors(dir: string, name: string): Promise<Contributor[]> {
  const authors = await listAuthors(dir, { from: name, noMerges: true, limit: CONTRIBUTOR_COMMITS })
  const byEmail = Map.groupBy(authors, ({ email }) => email)
  return [...byEmail].map(([email, own]) => ({ name: own[0]!.name, email, commits: own.length }))
}
