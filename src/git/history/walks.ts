/**
 * Walks over the history with git. All starting points are resolved first, so that git gets only ids and checked
 * values. A walk needs at most one process. Results that depend on ids only are cached.
 */
import { MINUTE } from '../../clock.ts'
import { resolveCommits } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import type { QuarantineOptions } from '../objects/objects.ts'
import { count, moment, phrase, safely, treePath, type Path, type Value } from '../process/arguments.ts'
import { git } from '../process/command.ts'

export interface HistoryOptions extends QuarantineOptions {
  /** The starting points: names as users write them. */
  readonly from?: string | readonly string[]
  /** Start from every branch and tag instead. */
  readonly all?: boolean
  /** Exclude the ancestors of these. */
  readonly not?: readonly string[]
  /** Only commits that changed this file or folder. */
  readonly path?: string
  /** Also follow the file's earlier names. */
  readonly follow?: boolean
  /** By committer date, inclusive. */
  readonly since?: Date
  readonly until?: Date
  readonly firstParent?: boolean
  readonly noMerges?: boolean
  readonly order?: 'date' | 'topo'
  /** Part of the author's name or email, ignoring case. */
  readonly author?: string
}

export interface PageRequest {
  readonly skip?: number
  readonly limit: number
}

export interface Walk {
  readonly dir: string
  readonly options: HistoryOptions
  /** Ids. */
  readonly from: readonly string[]
  readonly not: readonly string[]
  readonly path: Path | undefined
  readonly author: Value | undefined
}

/** Null if nothing can be found: the start does not exist, or the path or author is impossible. */
export async function walkFor(dir: string, request: HistoryOptions): Promise<Walk | null> {
  const path = request.path === undefined ? undefined : safely(() => treePath(request.path!))
  const author = request.author ? safely(() => phrase(request.author!)) : undefined
  if (path === null || author === null) return null
  const names = request.all ? [] : [request.from ?? 'HEAD'].flat()
  const ids = await resolveCommits(dir, [...names, ...(request.not ?? [])], { environment: request.environment })
  const from = ids.slice(0, names.length).filter((id) => id !== null)
  if (from.length < names.length || (from.length === 0 && !request.all)) return null
  return { dir, options: request, from, not: ids.slice(names.length).filter((id) => id !== null), path, author }
}

const MAX_SKIP = 10_000_000

/** One line per commit. */
export async function logOf(
  walk: Walk,
  format: '--format=%H' | '--format=%ae%x00%an',
  { skip = 0, limit }: PageRequest,
): Promise<string> {
  if (limit === 0) return ''
  const start = Math.min(skip, MAX_SKIP)
  // While git follows renames, it also counts skipped commits that it would not have shown.
  const isFollowing = walk.options.follow === true && walk.path !== undefined
  const page = isFollowing
    ? (['--follow', '--max-count', count(start + limit)] as const)
    : (['--skip', count(start), '--max-count', count(limit)] as const)
  const args = ['log', format, ...page, ...argumentsOf(walk)] as const
  const lines = await outputOf(walk, args, () => git(walk.dir, args, optionsOf(walk)))
  return isFollowing && start > 0 ? lines.split('\n').slice(start).join('\n') : lines
}

export async function countIn(walk: Walk): Promise<number> {
  const args = ['rev-list', '--count', ...argumentsOf(walk)] as const
  return Number(await outputOf(walk, args, () => git(walk.dir, args, optionsOf(walk))))
}

function argumentsOf({ options: request, path, author }: Walk) {
  return [
    ...(request.firstParent ? (['--first-parent'] as const) : []),
    ...(request.noMerges ? (['--no-merges'] as const) : []),
    ...(request.order === 'topo' ? (['--topo-order'] as const) : []),
    ...(request.since ? (['--since', moment(request.since)] as const) : []),
    ...(request.until ? (['--until', moment(request.until)] as const) : []),
    ...(author ? (['--fixed-strings', '-i', '--author', author] as const) : []),
    ...(request.all ? (['--branches', '--tags'] as const) : []),
    '--stdin',
    '--',
    ...(path === undefined ? [] : [path]),
  ] as const
}

function optionsOf({ options: { environment }, from, not }: Walk) {
  const input = [...from, ...not.map((id) => `^${id}`)].map((line) => `${line}\n`).join('')
  return { input, deadline: MINUTE / 2, environment }
}

const outputs = new Memory<string>('walks over commits', ({ length }) => length)

/** Refs move, and objects in quarantine may be deleted. Neither is cached. */
function outputOf(walk: Walk, args: readonly string[], run: () => Promise<string>): Promise<string> {
  if (walk.options.all || walk.options.environment) return run()
  return outputs.recall(walk.dir, [...args, optionsOf(walk).input].join('\0'), run)
}
