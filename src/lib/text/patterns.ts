/**
 * Regular expressions that users write: RE2, whose time grows with the pattern's size times the text. Where that product
 * is small they run here, else in a thread with a deadline. Callers take turns at the threads, and one of them never has
 * both, so that nobody else waits for a slow pattern.
 */
import type { LimitedCaller } from '../async/limiter.ts'
import type { PatternMatches, Search } from './pattern-search.ts'
import { OutOfTime, PoolFull } from '../threads/errors.ts'
import { ThreadPool } from '../threads/pool.ts'

/** For whom patterns are searched where no person waits: the project that has the pattern. */
export const projectCaller = (id: number): LimitedCaller => ({ key: `project ${id}`, isAnonymous: false })

/** Of those without a caller all count together. */
const NOBODY: LimitedCaller = { key: 'nobody', isAnonymous: false }

/** It takes longer than it may, or too many others are in front of it. */
export class PatternTooSlow extends Error {
  override name = 'PatternTooSlow'
}

const TOO_SLOW = 'takes too long'

/** Why this is no pattern, in RE2's own words; null if it is one. */
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
 * Tells of each of the texts whether the pattern is found anywhere in it; `^` and `$` stand at line breaks too if it is
 * of several lines.
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

/** Of each text what the pattern's last group, or all of it, finds last; null where it is not found. */
export async function lastMatches(
  pattern: string,
  texts: readonly string[],
  caller?: LimitedCaller,
): Promise<readonly (string | null)[]> {
  const { fault, told } = await search({ pattern, lines: false, texts, isReported: true }, caller)
  return fault ? texts.map(() => null) : told!
}

/** Some ten milliseconds. */
const MOST_STEPS = 200_000

async function search(input: Search, caller = NOBODY): Promise<PatternMatches> {
  const length = input.texts.reduce((sum, text) => sum + text.length, 100)
  if (sizeOf(input.pattern) * length > MOST_STEPS) return searchElsewhere(input, length, caller)
  // Loaded by whoever first writes one: at the start it would make everybody wait.
  const { searchTexts } = await import('./pattern-search.ts')
  return searchTexts(input)
}

/** At most so many steps of a program: each repetition repeats what it stands behind, which may be all of it. */
function sizeOf(pattern: string): number {
  let size = Math.max(1, pattern.length)
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    size *= Math.max(1, Number(least), Number(most || 0))
  return size
}

const DEADLINE = 1000
/** More text may take longer, but no more than its share. */
const DEADLINE_PER_MEGABYTE = 1000

const searching = new ThreadPool({
  threads: 2,
  perCaller: 1,
  waitingPerCaller: 50,
  waitingInAll: 100,
  patience: 30_000,
  idle: 10_000,
})

// Beside this file as a source, in the folder of the bundle otherwise.
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
