/**
 * Regular expressions of users: RE2, whose time grows with the size of the pattern times the length of the text. If
 * that product is small they run here, else in a thread with a deadline. Callers take turns at the threads, and one
 * caller never has both, so that nobody else waits for a slow pattern.
 */
import type { LimitedCaller } from '../async/limiter.ts'
import type { PatternMatches, Search } from './pattern-search.ts'
import { OutOfTime, PoolFull } from '../threads/errors.ts'
import { ThreadPool } from '../threads/pool.ts'

/** The caller for background searches: the project that has the pattern. */
export const projectCaller = (id: number): LimitedCaller => ({ key: `project ${id}`, isAnonymous: false })

/** All searches without a caller count together. */
const NOBODY: LimitedCaller = { key: 'nobody', isAnonymous: false }

/** The pattern exceeds its deadline, or too many others wait in front of it. */
export class PatternTooSlow extends Error {
  override name = 'PatternTooSlow'
}

const TOO_SLOW = 'takes too long'

/** Why the pattern is invalid, in RE2's own words; null if it is valid. */
export async function patternFault(pattern: string, caller?: LimitedCaller): Promise<string | null> {
  try {
    const { fault } = await search({ pattern, lines: false, texts: [] }, caller)
    return fault
  } catch (error) {
    if (error instanceof PatternTooSlow) return TOO_SLOW
    throw error
  }
}

/**
 * Returns for each text whether it contains a match. If the pattern is multiline, `^` and `$` match at line breaks too.
 */
export async function finder(
  pattern: string,
  texts: Iterable<string>,
  { lines = false, caller }: { lines?: boolean; caller?: LimitedCaller | undefined } = {},
): Promise<(text: string) => boolean> {
  const input = { pattern, lines, texts: [...new Set(texts)] }
  const { fault, found } = await search(input, caller)
  if (fault) throw new TypeError(`not a pattern: ${fault}`)
  const matching = new Set(input.texts.filter((_, n) => found[n]))
  return (text) => matching.has(text)
}

/** For each text, the last match of the last group, or of the whole pattern; null if there is none. */
export async function lastMatches(
  pattern: string,
  texts: readonly string[],
  caller?: LimitedCaller,
): Promise<readonly (string | null)[]> {
  const { fault, matches } = await search({ pattern, lines: false, texts, isReported: true }, caller)
  return fault ? texts.map(() => null) : matches!
}

/** About ten milliseconds. */
const MOST_STEPS = 200_000

async function search(input: Search, caller = NOBODY): Promise<PatternMatches> {
  const length = input.texts.reduce((sum, text) => sum + text.length, 100)
  if (sizeOf(input.pattern) * length > MOST_STEPS) return searchElsewhere(input, length, caller)
  // Loaded on first use: at the start it would delay everything.
  const { searchTexts } = await import('./pattern-search.ts')
  return searchTexts(input)
}

/**
 * An upper bound of the program size: each repetition multiplies what it applies to, which may be the whole pattern.
 */
function sizeOf(pattern: string): number {
  let size = Math.max(1, pattern.length)
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    size *= Math.max(1, Number(least), Number(most || 0))
  return size
}

const DEADLINE = 1000
/** More text may take longer, in proportion to its length. */
const DEADLINE_PER_MEGABYTE = 1000

const searching = new ThreadPool({
  threads: 2,
  perCaller: 1,
  waitingPerCaller: 50,
  waitingInAll: 100,
  patience: 30_000,
  idle: 10_000,
})

// Next to this file as a source, in the folder of the bundle otherwise.
const MODULE = new URL(`./pattern-search${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

async function searchElsewhere(input: Search, length: number, caller: LimitedCaller): Promise<PatternMatches> {
  const deadline = DEADLINE + (length / 1e6) * DEADLINE_PER_MEGABYTE
  try {
    return await searching.run<PatternMatches>(MODULE, input, { caller, deadline })
  } catch (error) {
    if (error instanceof OutOfTime || error instanceof PoolFull) throw new PatternTooSlow(TOO_SLOW)
    throw error
  }
}
