/**
 * Searches for a text in the files or the commit messages of a repository. Both searches read everything, so they stop
 * after a time limit or enough matches, and return what they have found.
 */
import { resolveCommit } from '../objects/commits.ts'
import { textOf } from '../objects/texts.ts'
import { count, phrase, rev, safely } from '../process/arguments.ts'
import { GitFailed, gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'

const DEADLINE_MS = 10_000
export const MOST_MATCHES = 1000
const AROUND = 3
/** The maximum number of characters per match. */
const LONGEST_SHOWN = 10_000

/** Neighboring lines of a file with their context. */
export interface MatchedLines {
  readonly path: string
  /** Starts at 1. */
  readonly startline: number
  readonly data: string
}

const NEWLINE = 10

interface GrepOptions {
  /** Ignores case. An empty text matches every line. */
  readonly text: string
  readonly accepts: (path: string) => boolean
}

/** Null if the commit does not exist. */
export async function findLines(
  dir: string,
  name: string,
  { text, accepts }: GrepOptions,
): Promise<MatchedLines[] | null> {
  const commit = await resolveCommit(dir, name)
  if (commit === null) return null
  // Git does not accept an empty list of patterns.
  const patternArgs =
    text === ''
      ? (['--max-count', count(1), '-e', '^'] as const)
      : (['-F', '-i', '-C', count(AROUND), '-f', '-'] as const)
  const args = ['grep', '-z', '-n', '-I', ...patternArgs, rev(commit)] as const
  const found: { path: string; startline: number; data: string }[] = []
  let isNext = true
  const take = (line: Buffer): void => {
    const [end, second] = [line.indexOf(0), line.indexOf(0, line.indexOf(0) + 1)]
    if (end < 0 || second < 0) return void (isNext = true) // `--` separates two matches
    const path = textOf(line.subarray(commit.length + 1, end))
    const content = textOf(line.subarray(second + 1))
    if (!accepts(path)) return
    const last = found.at(-1)
    if (isNext || last?.path !== path)
      found.push({ path, startline: Number(line.toString('latin1', end + 1, second)), data: cut(`${content}\n`) })
    else last.data = cut(`${last.data}${content}\n`)
    isNext = text === ''
  }
  const stream = gitStream(dir, args, { input: `${text}\n`, deadline: DEADLINE_MS, answers: [1] })
  await untilEnough(pieces(stream, NEWLINE), (lines) => {
    for (const line of lines) {
      take(line)
      // The context of the last match may be incomplete.
      if (found.length > MOST_MATCHES) return true
    }
    return false
  })
  return found.slice(0, MOST_MATCHES)
}

const cut = (text: string) => text.slice(0, LONGEST_SHOWN)

/**
 * The ids of commits whose message contains the text, ignoring case, newest first. Null if the commit does not exist.
 */
export async function findMessages(dir: string, name: string, text: string): Promise<string[] | null> {
  const commit = await resolveCommit(dir, name)
  if (commit === null) return null
  const pattern = safely(() => phrase(text))
  if (pattern === null) return []
  const args = ['log', '--format=%H', '--fixed-strings', '-i', '--max-count', count(MOST_MATCHES)] as const
  const found: string[] = []
  const stream = gitStream(dir, [...args, '--grep', pattern, rev(commit), '--'], { deadline: DEADLINE_MS })
  await untilEnough(pieces(stream, NEWLINE), (lines) => {
    for (const line of lines) if (line.length > 0) found.push(line.toString())
    return false
  })
  return found
}

async function untilEnough(
  pieces: AsyncIterable<Buffer[]>,
  take: (pieces: readonly Buffer[]) => boolean,
): Promise<void> {
  try {
    for await (const some of pieces) if (take(some)) return
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'deadline') throw error
  }
}
