/** Finds the commit of each line of a file. */
import { lines as lineRange, rev, treePath } from '../process/arguments.ts'
import { GitFailed, gitStream } from '../process/command.ts'
import { findCommits, resolveCommit, shortCommit, type Commit } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import { pieces } from '../process/streams.ts'
import { textOf } from '../objects/texts.ts'
import { entryAt } from '../objects/trees.ts'

export interface BlameGroup {
  readonly commit: Commit
  /** The number of the first line, from 1. */
  readonly start: number
  readonly lines: string[]
}

export interface BlameOptions {
  /** From 1, both inclusive. */
  readonly start?: number
  readonly end?: number
}

const LAST_LINE = 1_000_000_000
/** The limit of one file in memory, in lines and in characters. */
const MOST = { lines: 200_000, characters: 16 * 1024 * 1024 }

/** The file has more lines than one answer may contain. The caller may request fewer. */
export class BlameTooLong extends Error {
  override name = 'BlameTooLong'
}

/** Groups neighboring lines of one commit. Null if the commit does not exist or has no such file. */
export async function blame(
  dir: string,
  name: string,
  path: string,
  { start = 1, end = LAST_LINE }: BlameOptions = {},
): Promise<BlameGroup[] | null> {
  const commit = await resolveCommit(dir, name)
  const entry = commit === null ? null : await entryAt(dir, commit, path)
  if (commit === null || entry?.type !== 'blob') return null
  const range = [Math.max(start, 1), Math.min(end, LAST_LINE)] as const
  if (range[0] > range[1]) return []
  const key = `${commit} ${range.join(' ')}\0${entry.path}`
  const groups = await known.recall(dir, key, () => groupsIn(dir, commit, entry.path, range))
  return groups && withCommits(dir, groups)
}

const GROUP_BYTES = 150
const LINE_BYTES = 40

/** By commit, lines and path: these never have another answer. */
const known = new Memory<Group[] | null>('blames', (groups) =>
  (groups ?? []).reduce(
    (sum, { lines }) => lines.reduce((sum, { length }) => sum + LINE_BYTES + 2 * length, sum + GROUP_BYTES),
    0,
  ),
)

async function groupsIn(
  dir: string,
  commit: string,
  path: string,
  [start, end]: readonly [number, number],
): Promise<Group[] | null> {
  const args = ['-L', lineRange(start, end), rev(commit), '--', treePath(path)] as const
  const groups: Group[] = []
  let current = { id: '', start: 0 }
  let lines = 0
  let characters = 0
  const take = (line: Buffer) => {
    const [, id, at] = /^([0-9a-f]{40}) \d+ (\d+)/.exec(line.toString('latin1', 0, 64)) ?? []
    if (id !== undefined) current = { id, start: Number(at) }
    if (line[0] !== TAB) return
    lines++
    characters += line.length
    if (lines > MOST.lines || characters > MOST.characters) throw new BlameTooLong()
    if (groups.at(-1)?.id !== current.id) groups.push({ ...current, lines: [] })
    groups.at(-1)!.lines.push(textOf(line.subarray(1)))
  }
  try {
    for await (const lines of pieces(gitStream(dir, ['blame', '--porcelain', ...args]), 10)) lines.forEach(take)
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'exit') throw error
    // The file does not have these lines, or is empty.
    if (/ has only \d+ lines?/.test(error.stderr)) return []
    // A name that is not UTF-8 is found here by its replaced spelling, but cannot be passed to git.
    if (/no such path/.test(error.stderr)) return null
    throw error
  }
  return groups
}

const TAB = 9

interface Group {
  readonly id: string
  readonly start: number
  readonly lines: string[]
}

/** The limit of characters for the messages of all groups. Each message has a minimum. */
const MOST_MESSAGES = 4_000_000
const LEAST_MESSAGE = 200

async function withCommits(dir: string, groups: readonly Group[]): Promise<BlameGroup[]> {
  const ids = [...new Set(groups.map(({ id }) => id))]
  const commits = new Map((await findCommits(dir, ids)).map((commit, n) => [ids[n]!, commit]))
  // A commit appears once for each of its groups of lines.
  const most = Math.max(LEAST_MESSAGE, Math.floor(MOST_MESSAGES / groups.length))
  return groups.flatMap(({ id, start, lines }) => {
    const commit = commits.get(id)
    return commit ? [{ commit: shortCommit(commit, most), start, lines }] : []
  })
}
