/**
 * Finds the commit that last changed each entry of a folder. One walk finds all entries, and ends with the last one.
 * Answers are cached by commit and path, because they never change. Another commit starts from a cached answer, as far
 * as both histories are the same. A walk stops after a time limit and omits what it has not found.
 */
import type { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { count, rev, treePath } from '../process/arguments.ts'
import { git, GitFailed, gitStream } from '../process/command.ts'
import { knownCommits, resolveCommit, type Commit } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import { listCommitIds } from './history.ts'
import { pieces } from '../process/streams.ts'
import { listTree, partsOf, type TreeEntry } from '../objects/trees.ts'

interface Change {
  readonly commit: string
  /** The id of the entry after the commit. */
  readonly result: string
}

/** By the entry's name. */
type Found = ReadonlyMap<string, Change>

interface Known {
  readonly commit: string
  readonly found: Found
}

const DEADLINE_MS = 10_000
const MAX_COMMITS = 200_000
const ENTRY_BYTES = 150
/** The limit of commits between the two. With more, a new walk is faster. */
const MAX_APART = 5000

const known = new Memory<Known>('last commits of folders', ({ found }) =>
  [...found.keys()].reduce((sum, name) => sum + ENTRY_BYTES + 2 * name.length, 0),
)

/** Null if the commit does not exist or has no such folder. Keys are names, not paths. */
export async function lastCommits(dir: string, name: string, path = ''): Promise<Map<string, Commit> | null> {
  const commit = await resolveCommit(dir, name)
  const entries = commit === null ? null : await listTree(dir, commit, path)
  if (commit === null || !entries) return null
  const found = await foundAt(dir, commit, partsOf(path).join('/'), entries)
  const ids = [...new Set([...found.values()].map(({ commit }) => commit))]
  const commits = new Map((await knownCommits(dir, ids)).map((found, n) => [ids[n], found]))
  return new Map(
    [...found].flatMap(([entry, { commit }]) => (commits.get(commit) ? [[entry, commits.get(commit)!]] : [])),
  )
}

/**
 * Makes the first page after a push as fast as later ones. Adds the new commits with their changed paths to the
 * commit-graph, and computes the root folder of a branch.
 */
export async function prepareLastCommits(dir: string, name: string, signal?: AbortSignal): Promise<void> {
  try {
    const graph = ['commit-graph', 'write', '--reachable', '--changed-paths', '--split', '--no-progress'] as const
    await git(dir, graph, { deadline: HOUR, signal })
  } catch (error) {
    // Another process may be writing the commit-graph; without it git is only slower.
    if (!(error instanceof GitFailed) || error.reason !== 'exit') throw error
  }
  await lastCommits(dir, name)
}

async function foundAt(dir: string, commit: string, path: string, entries: readonly TreeEntry[]): Promise<Found> {
  const kept = known.get(dir, `${commit}\0${path}`)
  if (kept) return kept.found
  const newest = known.get(dir, path)
  // A branch may have moved away from the commit, and housekeeping may have deleted it since.
  const isThere = newest !== undefined && (await resolveCommit(dir, newest.commit)) !== null
  const found = isThere ? await findSince(dir, commit, path, entries, newest) : await walk(dir, commit, path, entries)
  known.set(dir, `${commit}\0${path}`, { commit, found })
  known.set(dir, path, { commit, found })
  return found
}

async function findSince(
  dir: string,
  commit: string,
  path: string,
  entries: readonly TreeEntry[],
  earlier: Known,
): Promise<Found> {
  const [found, others] = await Promise.all([
    walk(dir, commit, path, entries, earlier.commit),
    listCommitIds(dir, { from: earlier.commit, not: [commit], limit: MAX_APART }),
  ])
  if (others.length === MAX_APART) return walk(dir, commit, path, entries)
  const apart = new Set(others)
  const missing = entries.filter(({ name }) => !found.has(name))
  for (const { name, id } of missing) {
    const last = earlier.found.get(name)
    // A merge may have taken an older version, without a change of its own.
    if (last && last.result === id && !apart.has(last.commit)) found.set(name, last)
  }
  // If the ancestor's answer lacks an entry, that entry was too far back to be found.
  const isWorthIt = (name: string) => earlier.found.has(name) || apart.size > 0
  const lost = missing.filter(({ name }) => !found.has(name) && isWorthIt(name))
  if (lost.length === 0) return found
  return new Map([...found, ...(await walk(dir, commit, path, lost))])
}

/** Stops at the commits of `not`, if given. */
async function walk(
  dir: string,
  commit: string,
  path: string,
  entries: readonly TreeEntry[],
  not?: string,
): Promise<Map<string, Change>> {
  const isSmall = path === '' && entries.length <= FEW_ENTRIES
  return (isSmall && (await compareFew(dir, commit, entries, not))) || readLog(logOf(dir, commit, path, not), entries)
}

const FEW_COMMITS = 20
const FEW_ENTRIES = 500

/**
 * For the root folder: compares the trees directly if there are few commits. Null if there are more. For other folders
 * git omits merges that changed nothing there, with their merged commits.
 */
async function compareFew(
  dir: string,
  commit: string,
  entries: readonly TreeEntry[],
  not?: string,
): Promise<Map<string, Change> | null> {
  const ids = await listCommitIds(dir, { from: commit, not: not === undefined ? [] : [not], limit: FEW_COMMITS + 1 })
  if (ids.length > FEW_COMMITS) return null
  const missing = new Map(entries.map((entry) => [entry.name, `${entry.mode} ${entry.id}`]))
  const found = new Map<string, Change>()
  for (const { id, parents } of (await knownCommits(dir, ids)).filter((one) => one !== null)) {
    if (missing.size === 0) break
    const [own, ...others] = await Promise.all([id, ...parents].map((name) => contentsOf(dir, name)))
    for (const [name, content] of missing) {
      if (own!.get(name) !== content || others.some((other) => other.get(name) === content)) continue
      missing.delete(name)
      found.set(name, { commit: id, result: content.split(' ')[1]! })
    }
  }
  return found
}

async function contentsOf(dir: string, commit: string): Promise<Map<string, string>> {
  const entries = (await listTree(dir, commit)) ?? []
  return new Map(entries.map(({ name, mode, id }) => [name, `${mode} ${id}`]))
}

async function readLog(log: Readable, entries: readonly TreeEntry[]): Promise<Map<string, Change>> {
  const missing = new Map(entries.map((entry) => [entry.path, entry]))
  const found = new Map<string, Change>()
  const note = (id: string, path: string, result: string) => {
    const entry = missing.get(path)
    // A merge may have discarded a change. Then the result of that change differs from the current entry.
    if (entry?.id !== result) return
    missing.delete(path)
    found.set(entry.name, { commit: id, result })
  }
  try {
    const reader = readerOf(note)
    for await (const parts of pieces(log, 0)) {
      parts.forEach(reader)
      if (missing.size === 0) break
    }
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'deadline') throw error
  }
  return found
}

/** Newest first, each commit with its changes. A merge lists only what differs from all its parents. */
function logOf(dir: string, commit: string, path: string, not?: string): Readable {
  return gitStream(
    dir,
    [
      ...(['log', '-z', '--format=%H', '--raw', '-t', '-c', '--no-abbrev', '--no-renames'] as const),
      ...(['--max-count', count(MAX_COMMITS), rev(commit)] as const),
      ...(not === undefined ? [] : (['--not', rev(not)] as const)),
      '--',
      ...(path === '' ? [] : [treePath(path)]),
    ],
    { deadline: DEADLINE_MS },
  )
}

/** Parses the log: an id, then the kind and path of each change. */
function readerOf(note: (id: string, path: string, result: string) => void): (part: Buffer) => void {
  let id = ''
  let result: string | null = null
  return (part) => {
    const text = part.toString()
    if (result !== null) {
      note(id, text, result)
      result = null
    } else if (/^[0-9a-f]+$/.test(text)) id = text
    else result = resultIn(text)
  }
}

/** `:100644 100644 <id> <id> M`, with one more colon, mode and id for each further parent. */
function resultIn(line: string): string | null {
  const [, colons, fields] = /^\n?(:+)(.*)$/s.exec(line) ?? []
  return colons === undefined ? null : (fields!.split(' ')[2 * colons.length + 1] ?? null)
}
