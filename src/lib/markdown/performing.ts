/** Tasks on texts: short texts without code run at once, all others in the rendering threads, with a deadline. */
import { createHash } from 'node:crypto'
import { InFlight } from '../async/in-flight.ts'
import type { LimitedCaller } from '../async/limiter.ts'
import { CacheBudget } from '../async/cache-budget.ts'
import { Lru } from '../async/lru.ts'
import { pauses } from '../async/pauses.ts'
import { OutOfTime, PoolFull } from '../threads/errors.ts'
import { rendering } from '../threads/rendering.ts'
import type { ReferencesTask, RenderTask, ResultOf, Task } from './tasks.ts'

export const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64')

/** Takes some milliseconds, whatever the content. */
const LONGEST_AT_ONCE = 2_000
const FENCE = /```|~~~/

export const isShort = (text: string): boolean => text.length <= LONGEST_AT_ONCE && !FENCE.test(text)

const pause = pauses()
let last: Promise<unknown> = Promise.resolve()

/** Runs one task after the other with pauses, however many are requested at once. */
export function performHere<T extends ReferencesTask | RenderTask>(task: T): Promise<ResultOf<T>> {
  const step = last.then(async () => {
    const { perform } = await import('./tasks.ts')
    await pause()
    return perform(task)
  })
  last = step.catch(() => {})
  return step
}

const DEADLINE = 1_000
const DEADLINE_PER_MEGABYTE = 4_000
const FORGOTTEN_AFTER = 3_600_000
/** When contents ran out of time, by digest. */
const slow = new Lru<number>('slow contents', () => 1, new CacheBudget(10_000))
const inFlight = new InFlight<unknown>()
// Next to this file as a source, in the folder of the bundle otherwise.
const TASKS = new URL(import.meta.url.endsWith('.ts') ? './tasks.ts' : './markdown-tasks.js', import.meta.url)

interface Content {
  /** The key of the task. */
  readonly key: string
  /** The digest of the content that determines the duration. */
  readonly digest: string
  readonly length: number
  /** The waiting caller; absent in background work. */
  readonly caller: LimitedCaller | undefined
}

/**
 * Null if the task takes too long, or has to wait too long. A content that ran out of time is remembered and not tried
 * again.
 */
export async function performElsewhere<T extends Task>(task: T, content: Content): Promise<ResultOf<T> | null> {
  const { key, digest, length, caller } = content
  if (performance.now() - (slow.get(digest) ?? -Infinity) < FORGOTTEN_AFTER) return null
  const deadline = DEADLINE + (length / 1e6) * DEADLINE_PER_MEGABYTE
  const result = await inFlight.share(key, async () => {
    try {
      return await rendering.run<ResultOf<T>>(TASKS, task, { caller, deadline })
    } catch (error) {
      if (error instanceof OutOfTime) slow.set(digest, performance.now())
      else if (!(error instanceof PoolFull)) throw error
      return null
    }
  })
  return result as ResultOf<T> | null
}
