/**
 * The history of a commit, and what commits have in common. A name that does not exist gives an empty answer. So does
 * an impossible path or author.
 */
import { rev } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { findCommit, findCommits, knownCommits, resolveCommits, type Commit } from '../objects/commits.ts'
import type { QuarantineOptions } from '../objects/objects.ts'
import { basesOf, countApart, leadsTo, walkFrom } from './graph.ts'
import { followedIds, ID_LINE, lastChange } from './path-changes.ts'
import { countIn, logOf, walkFor, type HistoryOptions, type PageRequest, type Walk } from './walks.ts'

/** Newest first. */
export async function listCommits(dir: string, input: HistoryOptions & PageRequest): Promise<Commit[]> {
  const ids = await listCommitIds(dir, input)
  const found = await (input.environment ? findCommits(dir, ids, input) : knownCommits(dir, ids))
  return found.filter((commit) => commit !== null)
}

export async function listCommitIds(dir: string, input: HistoryOptions & PageRequest): Promise<string[]> {
  const walk = await walkFor(dir, input)
  if (!walk) return []
  const known = await plainWalk(walk)
  return known ? known.page(input.skip ?? 0, input.limit) : linesOf(await logOf(walk, '--format=%H', input))
}

/** The authors of each commit as written; much cheaper than the commits themselves. */
export async function listAuthors(
  dir: string,
  input: HistoryOptions & PageRequest,
): Promise<{ name: string; email: string }[]> {
  const walk = await walkFor(dir, input)
  const lines = walk ? linesOf(await logOf(walk, '--format=%ae%x00%an', input)) : []
  return lines.map((line) => {
    const [email = '', name = ''] = line.split('\0')
    return { name, email }
  })
}

/** Does not follow earlier names of a file. */
export async function countCommits(dir: string, input: HistoryOptions): Promise<number> {
  const walk = await walkFor(dir, input)
  return walk ? ((await plainWalk(walk))?.total ?? countIn(walk)) : 0
}

/**
 * A page of commits, newest first, with the total. For a file, follows its earlier names. Unlike in other functions,
 * the excluded commits must exist.
 */
export async function listHistory(
  dir: string,
  input: HistoryOptions,
  { skip = 0, limit }: PageRequest,
): Promise<{ commits: Commit[]; total: number }> {
  const walk = await walkFor(dir, { ...input, follow: input.path !== undefined })
  if (!walk || walk.not.length < (input.not?.length ?? 0)) return { commits: [], total: 0 }
  const { ids, total } = await pageIn(walk, { skip, limit })
  const commits = await knownCommits(dir, ids)
  return { total, commits: commits.filter((commit) => commit !== null) }
}

async function pageIn(walk: Walk, { skip, limit }: Required<PageRequest>): Promise<{ ids: string[]; total: number }> {
  if (walk.path !== undefined) {
    const all = await followedIds(walk)
    return { ids: linesOf(all.slice(skip * ID_LINE, (skip + limit) * ID_LINE)), total: all.length / ID_LINE }
  }
  const known = await plainWalk(walk)
  if (known) return { ids: known.page(skip, limit), total: known.total }
  const total = await countIn(walk)
  return { ids: skip < total ? linesOf(await logOf(walk, '--format=%H', { skip, limit })) : [], total }
}

/** Without a process, if only commits and dates decide. */
async function plainWalk({ dir, options: input, from, not, path, author }: Walk) {
  const isPlain = !input.all && path === undefined && !author && input.order !== 'topo' && !input.environment
  const { firstParent = false, noMerges = false, since, until } = input
  if (!isPlain || (not.length > 0 && (since ?? until))) return null
  const dates = { since: since && secondsOf(since), until: until && secondsOf(until) }
  const walk = await walkFrom(dir, from, not, { firstParent, noMerges, ...dates })
  if (walk || from.length !== 1 || not.length !== 1) return walk
  const line = await straightLine(dir, not[0]!, from[0]!)
  return line && { total: line.length, page: (skip: number, limit: number) => line.slice(skip, skip + limit) }
}

/** In the form for git. */
const secondsOf = (date: Date) => Math.max(0, Math.floor(date.getTime() / 1000))

/** The commit that last changed a file, seen from a commit. Null if none did. */
export async function lastCommitOf(dir: string, commit: string, path: string): Promise<string | null> {
  const walk = await walkFor(dir, { from: commit, path })
  return walk && lastChange(walk)
}

const LONGEST_LINE = 50

/**
 * The ids from `to` down to the child of `from`, newest first, if commits with one parent each connect the two. Needs
 * no process, however long the history is. Null only means that there is no such line, or a long one.
 */
async function straightLine(dir: string, from: string, to: string): Promise<string[] | null> {
  const line: string[] = []
  let at = to
  while (at !== from) {
    const commit = line.length < LONGEST_LINE ? await findCommit(dir, at) : null
    if (commit?.parents.length !== 1) return null
    line.push(at)
    at = commit.parents[0]!
  }
  return line
}

/** The new commits of a moved ref, newest first, and whether the ref lost none. */
export async function pushedCommits(
  dir: string,
  before: string | null,
  after: string,
  limit: number,
): Promise<{ ids: string[]; isForward: boolean }> {
  const [ids, isForward] = await Promise.all([
    listCommitIds(dir, { from: after, not: before === null ? [] : [before], limit }),
    before !== null && isAncestor(dir, before, after),
  ])
  return { ids, isForward }
}

/** Also false if either commit is unknown. */
export async function isAncestor(
  dir: string,
  ancestor: string,
  descendant: string,
  options: QuarantineOptions = {},
): Promise<boolean> {
  const [a, b] = await resolveCommits(dir, [ancestor, descendant], options)
  if (!a || !b) return false
  if (a === b) return true
  const known = options.environment ? null : await leadsTo(dir, a, b)
  if (known !== null) return known
  if (!options.environment && (await straightLine(dir, a, b))) return true
  return (await orNothing(git(dir, ['merge-base', '--is-ancestor', rev(a), rev(b)], options))) !== null
}

/** The best common ancestor of all commits. */
export async function mergeBase(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<string | null> {
  const found = await resolveCommits(dir, names, options)
  const ids = found.filter((id) => id !== null)
  if (ids.length === 0 || ids.length < found.length) return null
  const known = options.environment ? undefined : await knownBase(dir, ids)
  if (known !== undefined) return known
  const base = await orNothing(git(dir, ['merge-base', '--octopus', ...ids.map((id) => rev(id))], options))
  return base === null ? null : (linesOf(base)[0] ?? null)
}

/** For two commits. Undefined if git must decide, for example between several bases of the same age. */
async function knownBase(dir: string, ids: readonly string[]): Promise<string | null | undefined> {
  const [a, b] = ids
  if (ids.length !== 2 || !a || !b) return undefined
  const bases = await basesOf(dir, a, b)
  if (bases) return bases.length > 1 && bases[0]!.date === bases[1]!.date ? undefined : (bases[0]?.id ?? null)
  if (await straightLine(dir, a, b)) return a
  return (await straightLine(dir, b, a)) ? b : undefined
}

/** How many commits `name` has that `than` lacks, and the other way round. */
export async function aheadBehind(
  dir: string,
  name: string,
  than: string,
): Promise<{ ahead: number; behind: number } | null> {
  const [a, b] = await resolveCommits(dir, [name, than])
  if (!a || !b) return null
  const known = await countApart(dir, a, b)
  if (known) return { ahead: known[0], behind: known[1] }
  const output = await git(dir, ['rev-list', '--left-right', '--count', '--stdin'], { input: `${a}...${b}\n` })
  const [ahead, behind] = output.split(/\s/)
  return { ahead: Number(ahead), behind: Number(behind) }
}

/** Exit code 1 means that git answers no. */
async function orNothing(running: Promise<string>): Promise<string | null> {
  try {
    return await running
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return null
    throw error
  }
}

const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')
