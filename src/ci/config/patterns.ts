import { globOf } from '../../lib/text/globs.ts'
import type { LimitedCaller } from '../../lib/async/limiter.ts'
import { pauses } from '../../lib/async/pauses.ts'
import { PatternTooSlow, finder, patternFault } from '../../lib/text/patterns.ts'
import { ConfigFault } from './tree.ts'

/** The limit for all patterns of one configuration. */
const MOST_MS = 3000
const MOST_STEPS = 5_000_000

/** The patterns of one configuration. Each pattern is searched once in each text, and all share one deadline. */
export class Patterns {
  readonly #found = new Map<string, Map<string, boolean>>()
  readonly #known = new Map<string, boolean>()
  readonly #paths = new WeakMap<readonly string[], Map<string, boolean>>()
  readonly #pause = pauses()
  #left = MOST_MS
  #steps = MOST_STEPS
  readonly #caller: LimitedCaller | undefined

  constructor(caller?: LimitedCaller) {
    this.#caller = caller
  }

  async isPattern(pattern: string): Promise<boolean> {
    const known = this.#known.get(pattern)
    if (known !== undefined) return known
    const is = await this.#timed(async () => (await patternFault(pattern, this.#caller)) === null)
    this.#known.set(pattern, is)
    return is
  }

  /** An invalid pattern matches nothing. */
  async isFound(pattern: string, text: string): Promise<boolean> {
    const texts = this.#found.get(pattern) ?? new Map<string, boolean>()
    this.#found.set(pattern, texts)
    const known = texts.get(text)
    if (known !== undefined) return known
    if (!(await this.isPattern(pattern))) return false
    const found = await this.#timed(async () => (await finder(pattern, [text], { caller: this.#caller }))(text))
    texts.set(text, found)
    return found
  }

  /** Whether a glob matches a path. Also true if the match exceeds the limit of steps, which no real use reaches. */
  async anyPath(globs: readonly string[], paths: readonly string[]): Promise<boolean> {
    const known = this.#paths.get(paths) ?? new Map<string, boolean>()
    this.#paths.set(paths, known)
    for (const glob of globs) {
      const found = known.get(glob) ?? (await this.#matchesAny(glob, paths))
      known.set(glob, found)
      if (found) return true
    }
    return false
  }

  async #matchesAny(glob: string, paths: readonly string[]): Promise<boolean> {
    const matches = globOf(glob)
    const step = () => {
      if (--this.#steps < 0) throw new OutOfSteps()
    }
    try {
      for (const path of paths) {
        if (matches(path, step)) return true
        await this.#pause()
      }
    } catch (error) {
      if (error instanceof OutOfSteps) return true
      throw error
    }
    return false
  }

  async #timed(search: () => Promise<boolean>): Promise<boolean> {
    if (this.#left <= 0) throw tooSlow()
    await this.#pause()
    const since = performance.now()
    try {
      return await search()
    } catch (error) {
      if (error instanceof PatternTooSlow) throw tooSlow()
      throw error
    } finally {
      this.#left -= performance.now() - since
    }
  }
}

class OutOfSteps extends Error {}

const tooSlow = () => new ConfigFault('The regular expressions take too long')
