/**
 * Which commit last changed each entry of a folder: one walk for all of them, which ends when the last is found. Answers
 * are kept by commit and path, which never change, and a later commit starts from the answer of an earlier one. A walk
 * gives up after a while; what it has not found by then is left out.
 */
import type { Readable } from 'node:stream'
import { count, rev, treePath } from './arguments.ts'
import { GitFailed, gitStream } from './command.ts'
import { findCommits, resolveCommit, type Commit } from './commits.ts'
import { isAncestor } from './history.ts'
import { pieces } from './streams.ts'
import { listTree, type TreeEntry } from './trees.ts'

/** By the entry's name. */
type Found = ReadonlyMap<string, string>

interface Known {
  readonly commit: string
  readonly found: Found
}

const DEADLINE_MS = 10_000
const MAX_COMMITS = 200_000
const MAX_KEPT_ENTRIES = 200_000

/** Null when there is no such commit, or no such folder in it. Keys are names, not paths. */
export async function lastCommits(dir: string, name: string, path = ''): Promise<Map<string, Commit> | null> {
  const commit = await resolveCommit(dir, name)
  const entries = commit === null ? null : await listTree(dir, commit, path)
  if (commit === null || !entries) return null
  const found = await foundAt(dir, commit, path.split('/').filter(Boolean).join('/'), entries)
  const ids = [...new Set(found.values())]
  const commits = new Map((await findCommits(dir, ids)).map((found, n) => [ids[n], found]))
  return new Map([...found].flatMap(([entry, id]) => (commits.get(id) ? [[entry, commits.get(id)!]] : [])))
}

async function foundAt(dir: string, commit: string, path: string, entries: readonly TreeEntry[]): Promise<Found> {
  const key = `${dir}\0${path}`
  const kept = recall(`${key}\0${commit}`)
  if (kept) return kept.found
  const newest = recall(key)
  const base = newest && (await isAncestor(dir, newest.commit, commit)) ? newest : undefined
  const found = await walk(dir, commit, path, entries, base)
  keep(`${key}\0${commit}`, { commit, found })
  keep(key, { commit, found })
  return found
}

async function walk(
  dir: string,
  commit: string,
  path: string,
  entries: readonly TreeEntry[],
  base: Known | undefined,
): Promise<Found> {
  const missing = new Map(entries.map((entry) => [entry.path, entry]))
  const found = new Map<string, string>()
  const note = (id: string, path: string, result: string) => {
    const entry = missing.get(path)
    // A merge may have thrown a change away: then what that left is not what is there.
    if (entry?.id !== result) return
    missing.delete(path)
    found.set(entry.name, id)
  }
  try {
    const reader = readerOf(note)
    for await (const parts of pieces(logOf(dir, commit, path, base?.commit), 0)) {
      parts.forEach(reader)
      if (missing.size === 0) break
    }
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'deadline') throw error
  }
  for (const { name } of missing.values()) {
    const earlier = base?.found.get(name)
    if (earlier !== undefined) found.set(name, earlier)
  }
  return found
}

/** Newest first, each commit with what it changed; a merge with what differs from all its parents. */
function logOf(dir: string, commit: string, path: string, not: string | undefined): Readable {
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

/** Takes the log apart: an id, then for each change what it was and its path. */
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

/** `:100644 100644 <id> <id> M`, with a colon, a mode and an id more for each further parent. */
function resultIn(line: string): string | null {
  const [, colons, fields] = /^\n?(:+)(.*)$/s.exec(line) ?? []
  return colons === undefined ? null : (fields!.split(' ')[2 * colons.length + 1] ?? null)
}

const cache = new Map<string, Known>()
let size = 0

function recall(key: string): Known | undefined {
  const known = cache.get(key)
  // At the end, where the longest unused are not.
  if (known && cache.delete(key)) cache.set(key, known)
  return known
}

function keep(key: string, known: Known): void {
  forget(key)
  cache.set(key, known)
  size += known.found.size + 1
  for (const oldest of cache.keys()) {
    if (size <= MAX_KEPT_ENTRIES) break
    forget(oldest)
  }
}

function forget(key: string): void {
  size -= cache.has(key) ? cache.get(key)!.found.size + 1 : 0
  cache.delete(key)
}
