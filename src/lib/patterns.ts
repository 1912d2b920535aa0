/**
 * Regular expressions that users write: RE2, whose time grows with the pattern's size times the text. Where that product
 * is small they run here, else in a worker with a deadline, so that nobody else waits for them.
 */
import { Worker } from 'node:worker_threads'
import type { PatternMatches, Search } from './pattern-search.ts'

/** It takes longer than it may, or too many others are in front of it. */
export class PatternTooSlow extends Error {
  override name = 'PatternTooSlow'
}

const TOO_SLOW = 'takes too long'

/** Why this is no pattern, in RE2's own words; null if it is one. */
export async function patternFault(pattern: string): Promise<string | null> {
  try {
    const { fault } = await search({ pattern, lines: false, texts: [] })
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
  { lines = false }: { lines?: boolean } = {},
): Promise<(text: string) => boolean> {
  const input = { pattern, lines, texts: [...new Set(texts)] }
  const { fault, found } = await search(input)
  if (fault) throw new TypeError(`not a pattern: ${fault}`)
  const matching = new Set(input.texts.filter((_, n) => found[n]))
  return (text) => matching.has(text)
}

/** Of each text what the pattern's last group, or all of it, finds last; null where it is not found. */
export async function lastMatches(pattern: string, texts: readonly string[]): Promise<readonly (string | null)[]> {
  const { fault, told } = await search({ pattern, lines: false, texts, isTold: true })
  return fault ? texts.map(() => null) : told!
}

/** Some ten milliseconds. */
const MOST_STEPS = 200_000

async function search(input: Search): Promise<PatternMatches> {
  const length = input.texts.reduce((sum, text) => sum + text.length, 100)
  if (sizeOf(input.pattern) * length > MOST_STEPS) return searchElsewhere(input, length)
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

const WORKER = new URL(`./pattern-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
const MOST_WORKERS = 2
const MOST_WAITING = 100
const IDLE_MS = 10_000
const DEADLINE_MS = 1000
/** More text may take longer, but no more than its share. */
const DEADLINE_MS_PER_MEGABYTE = 1000

const idle: Worker[] = []
const waiting: (() => void)[] = []
let busy = 0
let idling: NodeJS.Timeout | undefined

async function searchElsewhere(input: Search, length: number): Promise<PatternMatches> {
  if (busy === MOST_WORKERS) {
    if (waiting.length === MOST_WAITING) throw new PatternTooSlow(TOO_SLOW)
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else busy++
  const worker = idle.pop() ?? new Worker(WORKER, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 256 } })
  try {
    const found = await ask(worker, input, DEADLINE_MS + (length / 1e6) * DEADLINE_MS_PER_MEGABYTE)
    keep(worker)
    return found
  } catch (error) {
    void worker.terminate()
    throw error
  } finally {
    const next = waiting.shift()
    if (next) next()
    else busy--
  }
}

async function ask(worker: Worker, input: Search, deadline: number): Promise<PatternMatches> {
  const { promise, resolve, reject } = Promise.withResolvers<PatternMatches>()
  let timer: NodeJS.Timeout | undefined
  worker.ref()
  const fail = (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new PatternTooSlow(TOO_SLOW) : error)
  worker.once('error', fail)
  worker.once('message', () => {
    // Its start is no part of the search.
    timer = setTimeout(() => reject(new PatternTooSlow(TOO_SLOW)), deadline)
    worker.once('message', resolve)
    worker.postMessage(input)
  })
  worker.postMessage('ready?')
  const found = await promise.finally(() => clearTimeout(timer))
  worker.off('error', fail)
  return found
}

function keep(worker: Worker): void {
  worker.unref()
  idle.push(worker)
  clearTimeout(idling)
  idling = setTimeout(() => idle.splice(0).forEach((worker) => void worker.terminate()), IDLE_MS).unref()
}
