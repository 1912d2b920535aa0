/**
 * Walks over the history. All starting points are resolved first, so that git is given nothing but ids and checked
 * values; one that does not exist makes the answer empty, and so does a path or an author that cannot exist. Every walk
 * is one process, whatever it finds.
 */
import { MINUTE } from '../../clock.ts'
import { count, moment, phrase, rev, safely, treePath } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { findCommits, resolveCommits, type Commit } from '../objects/commits.ts'
import type { QuarantineOptions } from '../objects/objects.ts'

export interface HistoryWish extends QuarantineOptions {
  /** Where to start: names as users write them. */
  readonly from?: string | readonly string[]
  /** Start from every branch and tag instead. */
  readonly all?: boolean
  /** Leave out what these reach. */
  readonly not?: readonly string[]
  /** Only what changed this file or folder. */
  readonly path?: string
  /** Through the file's earlier names, too. */
  readonly follow?: boolean
  /** By committer date, inclusive. */
  readonly since?: Date
  readonly until?: Date
  readonly firstParent?: boolean
  readonly noMerges?: boolean
  readonly order?: 'date' | 'topo'
  /** Part of the author's name or email, whatever the case. */
  readonly author?: string
}

export interface PageWish {
  readonly skip?: number
  readonly limit: number
}

const MAX_SKIP = 10_000_000

/** Newest first. */
export async function listCommits(dir: string, wish: HistoryWish & PageWish): Promise<Commit[]> {
  const found = await findCommits(dir, await listCommitIds(dir, wish), { environment: wish.environment })
  return found.filter((commit) => commit !== null)
}

export function listCommitIds(dir: string, wish: HistoryWish & PageWish): Promise<string[]> {
  return logLines(dir, '--format=%H', wish)
}

/** Of each commit, as its author wrote them; far cheaper than the commits themselves. */
export async function listAuthors(
  dir: string,
  wish: HistoryWish & PageWish,
): Promise<{ name: string; email: string }[]> {
  const lines = await logLines(dir, '--format=%ae%x00%an', wish)
  return lines.map((line) => {
    const [email = '', name = ''] = line.split('\0')
    return { name, email }
  })
}

async function logLines(
  dir: string,
  format: '--format=%H' | '--format=%ae%x00%an',
  wish: HistoryWish & PageWish,
): Promise<string[]> {
  const walk = await walkFor(dir, wish)
  if (!walk || wish.limit === 0) return []
  const skip = Math.min(wish.skip ?? 0, MAX_SKIP)
  // While it follows renames, git also counts commits among the skipped that it would not have shown.
  const isFollowing = wish.follow === true && wish.path !== undefined
  const page = isFollowing
    ? (['--follow', '--max-count', count(skip + wish.limit)] as const)
    : (['--skip', count(skip), '--max-count', count(wish.limit)] as const)
  const lines = linesOf(await git(dir, ['log', format, ...page, ...walk.args], walk.options))
  return isFollowing ? lines.slice(skip) : lines
}

/** Earlier names of a file are not followed. */
export async function countCommits(dir: string, wish: HistoryWish): Promise<number> {
  const walk = await walkFor(dir, wish)
  return walk ? Number(await git(dir, ['rev-list', '--count', ...walk.args], walk.options)) : 0
}

async function walkFor(dir: string, wish: HistoryWish) {
  const path = wish.path === undefined ? undefined : safely(() => treePath(wish.path!))
  const author = wish.author ? safely(() => phrase(wish.author!)) : undefined
  // No file has such a path, and nobody such a name.
  if (path === null || author === null) return null
  const from = wish.all ? [] : [wish.from ?? 'HEAD'].flat()
  const not = wish.not ?? []
  const ids = await resolveCommits(dir, [...from, ...not], { environment: wish.environment })
  if (ids.slice(0, from.length).includes(null) || (from.length === 0 && !wish.all)) return null
  const input = ids.flatMap((id, n) => (id === null ? [] : [`${n < from.length ? '' : '^'}${id}\n`])).join('')
  const args = [
    ...(wish.firstParent ? (['--first-parent'] as const) : []),
    ...(wish.noMerges ? (['--no-merges'] as const) : []),
    ...(wish.order === 'topo' ? (['--topo-order'] as const) : []),
    ...(wish.since ? (['--since', moment(wish.since)] as const) : []),
    ...(wish.until ? (['--until', moment(wish.until)] as const) : []),
    ...(author ? (['--fixed-strings', '-i', '--author', author] as const) : []),
    ...(wish.all ? (['--branches', '--tags'] as const) : []),
    '--stdin',
    '--',
    ...(path === undefined ? [] : [path]),
  ] as const
  return { args, options: { input, deadline: MINUTE / 2, environment: wish.environment } }
}

/** False also when either is unknown. */
export async function isAncestor(
  dir: string,
  ancestor: string,
  descendant: string,
  options: QuarantineOptions = {},
): Promise<boolean> {
  const [a, b] = await resolveCommits(dir, [ancestor, descendant], options)
  if (!a || !b) return false
  if (a === b) return true
  return (await orNothing(git(dir, ['merge-base', '--is-ancestor', rev(a), rev(b)], options))) !== null
}

/** The best commit that all of them have in common. */
export async function mergeBase(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<string | null> {
  const ids = await resolveCommits(dir, names, options)
  if (ids.length === 0 || ids.includes(null)) return null
  const revs = ids.flatMap((id) => (id === null ? [] : [rev(id)]))
  const base = await orNothing(git(dir, ['merge-base', '--octopus', ...revs], options))
  return base === null ? null : (linesOf(base)[0] ?? null)
}

/** How many commits `name` has that `than` has not, and the other way round. */
export async function aheadBehind(
  dir: string,
  name: string,
  than: string,
): Promise<{ ahead: number; behind: number } | null> {
  const [a, b] = await resolveCommits(dir, [name, than])
  if (!a || !b) return null
  const told = await git(dir, ['rev-list', '--left-right', '--count', '--stdin'], { input: `${a}...${b}\n` })
  const [ahead, behind] = told.split(/\s/)
  return { ahead: Number(ahead), behind: Number(behind) }
}

/** With 1 git answers no. */
async function orNothing(running: Promise<string>): Promise<string | null> {
  try {
    return await running
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return null
    throw error
  }
}

const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')
